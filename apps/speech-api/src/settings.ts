import { createCommandEngine } from './command/create-command-engine.ts'
import type { SpeechEngine } from './speech-engine.ts'
import type { StartSpeechApiOptions } from './start-speech-api.ts'

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_PORT = 4_100

/** Reads what the server is started with from the environment; throws one sentence naming what is missing or wrong. */
export function readSettings(environment: Environment): StartSpeechApiOptions {
  const required = (...names: string[]) => {
    const value = names.map((name) => environment[name]).find(Boolean)
    if (!value) throw new Error(`${names.join(' or ')} is not set.`)
    return value
  }
  return {
    port: wholeNumber(environment, 'PORT', 0, 65_535) ?? DEFAULT_PORT,
    host: environment['HOST'] || undefined,
    authUrl: required('AUTH_URL'),
    clientId: required('CLIENT_ID', 'CONSUMER_KEY'),
    clientSecret: required('CLIENT_SECRET', 'CONSUMER_SECRET'),
    allowInsecure: environment['ALLOW_INSECURE'] === '1',
    allowedOrigins: environment['ALLOWED_ORIGINS']?.split(/[\s,]+/).filter(Boolean),
    maxJobs: wholeNumber(environment, 'MAX_JOBS', 2, 1_000),
    engine: readEngine(environment),
  }
}

function readEngine(environment: Environment): SpeechEngine | undefined {
  const command = environment['SPEECH_ENGINE']
  if (!command) return undefined
  const timeLimit = wholeNumber(environment, 'SPEECH_ENGINE_SECONDS', 1, 86_400)
  // The program has no business with the secrets of this one.
  const { CLIENT_SECRET: _, CONSUMER_SECRET: __, ...harmless } = environment
  const options = {
    command,
    environment: harmless,
    concurrency: wholeNumber(environment, 'SPEECH_ENGINE_CONCURRENCY', 1, 1_000),
    timeoutMs: timeLimit && timeLimit * 1_000,
  }
  try {
    return createCommandEngine(options)
  } catch (error) {
    throw new Error(`SPEECH_ENGINE cannot be used. ${(error as Error).message}`, { cause: error })
  }
}

function wholeNumber(
  environment: Environment,
  name: string,
  least: number,
  most: number,
): number | undefined {
  const value = environment[name]
  if (!value) return undefined
  const number = Number(value)
  if (Number.isInteger(number) && number >= least && number <= most) return number
  throw new Error(`${name} must be a number from ${least} to ${most}, not "${value}".`)
}
