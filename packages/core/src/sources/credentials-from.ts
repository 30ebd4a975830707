import { configurationError } from '../protocol/token-error.ts'

/** Which variables {@link credentialsFrom} reads. */
export interface CredentialsFromOptions {
  /**
   * What the names start with, such as `BILLING_`, for an application with several clients. The URL of the token service may
   * have no prefix, if they share it.
   * @default none
   */
  readonly prefix?: string | undefined
  /** False for a client that authenticates without a secret, such as with a key. @default true */
  readonly secret?: boolean | undefined
}

const serverNames = { authUrl: 'AUTH_URL', tokenEndpoint: 'TOKEN_ENDPOINT', issuer: 'ISSUER' } as const

/**
 * Reads a client's credentials from environment variables: `AUTH_URL`, `TOKEN_ENDPOINT` or `ISSUER`, `CLIENT_ID` and
 * `CLIENT_SECRET`, or as the platform calls them, `CONSUMER_KEY` and `CONSUMER_SECRET`. Pass the result to
 * {@link clientCredentials}, with further options if needed.
 *
 * @param env such as `process.env`, the bindings of a Worker, or a function that returns the value of a variable
 *
 * @example
 * const tokens = clientCredentials({ ...credentialsFrom(process.env), scope: 'orders:read' })
 *
 * @throws {TokenError} of kind `configuration`, naming all variables that are missing or invalid
 */
export function credentialsFrom(
  env: object | ((name: string) => unknown),
  { prefix = '', secret = true }: CredentialsFromOptions = {},
): {
  readonly authUrl?: string
  readonly tokenEndpoint?: string
  readonly issuer?: string
  readonly clientId: string
  readonly clientSecret?: string
} {
  const read = (name: string): string => {
    const value: unknown = typeof env === 'function' ? env(name) : (env as Record<string, unknown>)[name]
    return typeof value === 'string' ? value : ''
  }
  const readServers = (prefix: string) =>
    Object.entries(serverNames).flatMap(([option, name]) => {
      const url = read(prefix + name)
      return url === '' ? [] : [{ option, name: prefix + name, url }]
    })
  const clientId = read(`${prefix}CLIENT_ID`) || read(`${prefix}CONSUMER_KEY`)
  const clientSecret = secret ? read(`${prefix}CLIENT_SECRET`) || read(`${prefix}CONSUMER_SECRET`) : ''
  const own = readServers(prefix)
  const servers = own.length > 0 ? own : readServers('')
  const missing = [
    servers.length === 0 && `${prefix}AUTH_URL (or ${prefix}TOKEN_ENDPOINT or ${prefix}ISSUER)`,
    clientId === '' && `${prefix}CLIENT_ID`,
    secret && clientSecret === '' && `${prefix}CLIENT_SECRET`,
  ].filter((name) => name !== false)
  const invalid = servers.filter(({ url }) => !URL.canParse(url))
  const problems = [
    missing.length > 0 &&
      `${listOf(missing)} ${missing.length === 1 ? 'is' : 'are'} not set in the environment.`,
    servers.length > 1 && `${listOf(servers.map(({ name }) => name))} are mutually exclusive.`,
    ...invalid.map(
      ({ name }) => `${name} is not a valid URL. Include the scheme, as in https://auth.example.com.`,
    ),
  ].filter((problem) => problem !== false)
  if (problems.length > 0) throw configurationError(problems.join(' '))
  const [server] = servers
  return { [server!.option]: server!.url, clientId, ...(secret && { clientSecret }) }
}

/** Such as `A, B and C`. */
export function listOf(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names)
}
