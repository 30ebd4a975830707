import { createCommandEngine } from '../engines/command/create-command-engine.ts'
import type { SpeechEngine } from '../engines/speech-engine.ts'
import type { StartSpeechApiOptions } from './start-speech-api.ts'

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PORT = 4_100

/** Reads the settings of the server from environment variables; throws an error that names a missing or invalid one. */
export function readSettings(environment: Environment): StartSpeechApiOptions {
  const required = (...names: string[]) => {
    const value = names.map((name) => environment[name]).find(Boolean)
    if (!value) throw new Error(`${names.join(' or ')} is missing. Set it in the environment.`)
    return value
  }
  return {
    port: integer(environment, 'PORT', 0, 65_535) ?? DEFAULT_PORT,
    host: environment['HOST'] || undefined,
    authUrl: required('AUTH_URL'),
    clientId: required('CLIENT_ID', 'CONSUMER_KEY'),
    clientSecret: required('CLIENT_SECRET', 'CONSUMER_SECRET'),
    allowInsecureRequests: environment['ALLOW_INSECURE'] === '1',
    allowedOrigins: environment['ALLOWED_ORIGINS']?.split(/[\s,]+/).filter(Boolean),
    maxJobs: integer(environment, 'MAX_JOBS', 2, 1_000),
    engine: readEngine(environment),
  }
}

function readEngine(environment: Environment): SpeechEngine | undefined {
  const command = environment['SPEECH_ENGINE']
  if (!command) return undefined
  const seconds = integer(environment, 'SPEECH_ENGINE_SECONDS', 1, 86_400)
  // The program does not get the secrets of this server.
  const { CLIENT_SECRET: _, CONSUMER_SECRET: __, ...withoutSecrets } = environment
  const options = {
    command,
    environment: withoutSecrets,
    concurrency: integer(environment, 'SPEECH_ENGINE_CONCURRENCY', 1, 1_000),
    timeoutMs: seconds && seconds * 1_000,
  }
  try {
    return createCommandEngine(options)
  } catch (error) {
    throw new Error(`SPEECH_ENGINE is invalid. ${(error as Error).message}`, { cause: error })
  }
}

function integer(environment: Environment, name: string, min: number, max: number): number | undefined {
  const value = environment[name]
  if (!value) return undefined
  const number = Number(value)
  if (Number.isInteger(number) && number >= min && number <= max) return number
  throw new Error(`${name} must be a whole number from ${min} to ${max}, not "${value}".`)
}
