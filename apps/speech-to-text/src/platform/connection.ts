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

/** Services that were started for this application, and its credentials. */
export interface LocalPlatform extends Connection {
  /** The application whose tokens web pages get: with few permissions and a short lifetime. */
  readonly page: Credentials
  /** Lets the token service fail on request. */
  readonly sandboxUrl: string
  /** Stops the services. */
  close(): Promise<void>
}

/** What the page must know before it can do anything. */
export interface PageSettings {
  readonly speechUrl: string
  /** Whether the page can try what happens to its server's token: the token service is a sandbox. */
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
    ...credentialsFrom(environment),
  }
}

/** The variables of a deployment that uses these services. */
export function environmentOf(platform: LocalPlatform): Record<string, string> {
  return {
    AUTH_URL: platform.authUrl,
    SPEECH_URL: platform.speechUrl,
    SANDBOX_URL: platform.sandboxUrl,
    CLIENT_ID: platform.clientId,
    CLIENT_SECRET: platform.clientSecret,
    PAGE_CLIENT_ID: platform.page.clientId,
    PAGE_CLIENT_SECRET: platform.page.clientSecret,
  }
}

/** @throws {ConfigurationError} if a variable is missing */
export function credentialsFrom(environment: Environment): Credentials {
  return {
    clientId: valueFrom(environment, 'CLIENT_ID', 'CONSUMER_KEY'),
    clientSecret: valueFrom(environment, 'CLIENT_SECRET', 'CONSUMER_SECRET'),
  }
}

/**
 * Reads the credentials of the application for web pages.
 *
 * @throws {ConfigurationError} if a variable is missing
 */
export function pageCredentialsFrom(environment: Environment): Credentials {
  return {
    clientId: valueFrom(environment, 'PAGE_CLIENT_ID'),
    clientSecret: valueFrom(environment, 'PAGE_CLIENT_SECRET'),
  }
}

/** @throws {ConfigurationError} if the variable is missing or contains no URL */
export function urlFrom(environment: Environment, name: string): string {
  const value = valueFrom(environment, name)
  if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value.replace(/\/+$/, '')
  throw new ConfigurationError(
    `${name} is not a valid URL. Include the scheme, as in https://service.example.com.`,
  )
}

function valueFrom(environment: Environment, ...names: readonly [string, ...string[]]): string {
  for (const name of names) if (environment[name]) return environment[name]
  throw new ConfigurationError(
    `${names.join(' or ')} is missing. Set it, or unset AUTH_URL and SPEECH_URL to start all services on this machine.`,
  )
}
