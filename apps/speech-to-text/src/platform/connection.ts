import type { TokenEventListener } from '@tokenwell/core'

/** A setting is missing or invalid. The message is one sentence that names it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

/** The URLs of the platform and the credentials of this application. */
export interface Connection {
  readonly authUrl: string
  readonly speechUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly onEvent?: TokenEventListener | undefined
}

/** The credentials of an application. */
export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** The token service, the speech API and the credentials for them. */
export interface Platform extends Connection {
  /** The application whose tokens web pages get: with few permissions and a short lifetime. */
  readonly page?: Credentials | undefined
  /** Lets the token endpoint respond with 503, or no longer; only if the services were started for this application. */
  readonly setOutage?: ((isDown: boolean) => Promise<void>) | undefined
  /** Stops the services that were started for it. */
  close(): Promise<void>
}

/** What the page must know before it can do anything. */
export interface PageSettings {
  readonly speechUrl: string
  /** Whether the page can get its own tokens and call the speech API itself. */
  readonly direct: boolean
  /** Whether the page can try what happens to its server's token: all services are on this machine. */
  readonly trials: boolean
}

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the connection from environment variables; undefined if they contain no URL.
 *
 * @throws {ConfigurationError} if a variable is missing or invalid
 */
export function connectionFromEnvironment(environment: Environment): Connection | undefined {
  if (!environment['AUTH_URL'] && !environment['SPEECH_URL']) return undefined
  return {
    authUrl: urlFrom(environment, 'AUTH_URL'),
    speechUrl: urlFrom(environment, 'SPEECH_URL'),
    clientId: valueFrom(environment, 'CLIENT_ID', 'CONSUMER_KEY'),
    clientSecret: valueFrom(environment, 'CLIENT_SECRET', 'CONSUMER_SECRET'),
  }
}

/** Reads the credentials of the application for web pages; undefined if it does not exist. */
export function pageFromEnvironment(environment: Environment): Credentials | undefined {
  const { PAGE_CLIENT_ID: clientId, PAGE_CLIENT_SECRET: clientSecret } = environment
  return clientId && clientSecret ? { clientId, clientSecret } : undefined
}

function urlFrom(environment: Environment, name: string): string {
  const value = valueFrom(environment, name)
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value.replace(/\/+$/, '')
  throw new ConfigurationError(
    `${name} is not a valid URL. Include the scheme, as in https://service.example.com.`,
  )
}

function valueFrom(environment: Environment, ...names: readonly [string, ...string[]]): string {
  for (const name of names) if (environment[name]) return environment[name]
  throw new ConfigurationError(
    `${names.join(' or ')} is missing. Set AUTH_URL, SPEECH_URL, CLIENT_ID and CLIENT_SECRET, or none of them to start all services on this machine.`,
  )
}
