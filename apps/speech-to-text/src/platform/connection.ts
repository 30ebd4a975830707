import { credentialsFrom, type TokenEventListener } from '@tokenwell/core'

/** A setting is missing or invalid. The message is one sentence that names it. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}

/** A token service, the credentials of this application, and the URL of the speech API. */
export type Connection = ReturnType<typeof credentialsFrom> & {
  readonly speechUrl: string
  readonly onEvent?: TokenEventListener | undefined
}

/** The credentials of an application. */
export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Services that were started for this application, and its credentials. */
export interface LocalPlatform extends Credentials {
  readonly authUrl: string
  readonly speechUrl: string
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
 * @throws {TokenError} if a variable for tokens is missing or invalid
 * @throws {ConfigurationError} if `SPEECH_URL` is missing or invalid
 */
export function connectionFromEnvironment(environment: Environment): Connection | undefined {
  const urls = ['AUTH_URL', 'TOKEN_ENDPOINT', 'ISSUER', 'SPEECH_URL']
  if (urls.every((name) => !environment[name])) return undefined
  return { ...credentialsFrom(environment), speechUrl: speechUrlFrom(environment) }
}

/** @throws {ConfigurationError} if it is missing or invalid */
export function speechUrlFrom({ SPEECH_URL: url }: Environment): string {
  if (!url) {
    throw new ConfigurationError(
      'SPEECH_URL is missing. Set it, or unset AUTH_URL to start all services on this machine.',
    )
  }
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url.replace(/\/+$/, '')
  throw new ConfigurationError(
    'SPEECH_URL is not a valid URL. Include the scheme, as in https://service.example.com.',
  )
}

/** @throws {ConfigurationError} without `AUTH_URL`, below which a trial revokes tokens */
export function sandboxUrlFrom({ SANDBOX_URL: url, AUTH_URL: authUrl }: Environment): string | undefined {
  if (!url) return undefined
  if (authUrl) return url
  throw new ConfigurationError(
    'SANDBOX_URL requires AUTH_URL, where trials revoke tokens. Set AUTH_URL instead of ISSUER or TOKEN_ENDPOINT, or unset SANDBOX_URL.',
  )
}

/** The variables of a deployment that uses these services. */
export function environmentOf(platform: LocalPlatform): Record<string, string> {
  return {
    AUTH_URL: platform.authUrl,
    SPEECH_URL: platform.speechUrl,
    SANDBOX_URL: platform.sandboxUrl,
    CLIENT_ID: platform.clientId,
    CLIENT_SECRET: platform.clientSecret,
    PAGE_AUTH_URL: platform.authUrl,
    PAGE_CLIENT_ID: platform.page.clientId,
    PAGE_CLIENT_SECRET: platform.page.clientSecret,
  }
}
