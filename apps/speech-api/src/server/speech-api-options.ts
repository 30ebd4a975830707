import type { DestinationStream } from 'pino'
import { createCommandEngine } from '../engines/command/create-command-engine.ts'
import type { SpeechEngine } from '../engines/speech-engine.ts'
import type { SlowUploadLimits } from '../http/read-upload.ts'

export interface SpeechApiOptions {
  /** The token service that introspects access tokens: HTTPS, or HTTP on this machine. */
  readonly authUrl: string | URL
  /** The credentials of this API as a resource server. */
  readonly clientId: string
  readonly clientSecret: string
  /** Allows plain HTTP to a token service on another machine.
   * @default false
   */
  readonly allowInsecureRequests?: boolean | undefined
  /** Recognises speech. An engine that you pass is not closed with the server.
   * @default the grammar engine
   */
  readonly engine?: SpeechEngine | undefined
  /** The API product that an access token must cover.
   * @default 'speech-to-text'
   */
  readonly product?: string | undefined
  /** Origins of web pages that may call the API: `https://app.example`.
   * @default none
   */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Maximum length, in seconds, of a recording that is transcribed at once; longer ones become jobs, with status 202.
   * @default 60
   */
  readonly longAudioSeconds?: number | undefined
  /** Maximum number of active jobs of all clients. One client gets at most half of them.
   * @default 16
   */
  readonly maxJobs?: number | undefined
  /** @default 25 MiB */
  readonly maxUploadBytes?: number | undefined
  /** Limits that protect the server from slow clients. */
  readonly slowUploads?: SlowUploadLimits | undefined
  /** How long an introspection response is cached, in milliseconds.
   * @default 3_000
   */
  readonly introspectionCacheMs?: number | undefined
  /** Disables the log.
   * @default false
   */
  readonly quiet?: boolean | undefined
  /** Destination of the log.
   * @default standard output
   */
  readonly logTo?: DestinationStream | undefined
}

export interface StartSpeechApiOptions extends SpeechApiOptions {
  /** @default 0, a free port */
  readonly port?: number | undefined
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
}

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
