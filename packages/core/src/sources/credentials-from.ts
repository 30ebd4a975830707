import { configurationError } from '../protocol/token-error.ts'

/** Which variables {@link credentialsFrom} reads. */
export interface CredentialsFromOptions {
  /**
   * What the names start with, such as `BILLING_`, for an application with several clients. The URL of the token service may
   * have no prefix, unless there are credentials without a prefix: it is that of their client.
   * @default none
   */
  readonly prefix?: string | undefined
  /** False for a client that authenticates without a secret, such as with a key. @default true */
  readonly secret?: boolean | undefined
}

const serverNames = { authUrl: 'AUTH_URL', tokenEndpoint: 'TOKEN_ENDPOINT', issuer: 'ISSUER' } as const

/** The names of a client's ID and secret. Those of one client never go with those of another. */
const clientNames = ['CLIENT_ID', 'CLIENT_SECRET'] as const
/** As the platform calls them. */
const platformNames = ['CONSUMER_KEY', 'CONSUMER_SECRET'] as const

/**
 * Reads a client's credentials from environment variables: `AUTH_URL`, `TOKEN_ENDPOINT` or `ISSUER`, `CLIENT_ID` and
 * `CLIENT_SECRET`. With `AUTH_URL`, these may be called `CONSUMER_KEY` and `CONSUMER_SECRET`, as the platform calls them. Pass
 * the result to {@link clientCredentials}, with further options if needed.
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
  const own = readServers(prefix)
  const others = prefix === '' ? [] : readServers('')
  const otherClient =
    others.length === 0 ? undefined : [...clientNames, ...platformNames].find((name) => read(name) !== '')
  const servers = own.length > 0 || otherClient ? own : others
  const isSet = ([id, secretName]: typeof clientNames | typeof platformNames): boolean =>
    read(prefix + id) !== '' || (secret && read(prefix + secretName) !== '')
  const hasPlatformNames = !isSet(clientNames) && isSet(platformNames)
  const isPlatform = servers.length === 0 || servers.some(({ option }) => option === 'authUrl')
  const [idName, secretName] = hasPlatformNames && isPlatform ? platformNames : clientNames
  const clientId = read(prefix + idName)
  const clientSecret = secret ? read(prefix + secretName) : ''
  const missing = [
    servers.length === 0 && `${prefix}AUTH_URL (or ${prefix}TOKEN_ENDPOINT or ${prefix}ISSUER)`,
    clientId === '' && prefix + idName,
    secret && clientSecret === '' && prefix + secretName,
  ].filter((name) => name !== false)
  const invalid = servers.filter(({ url }) => !URL.canParse(url))
  const problems = [
    missing.length > 0 &&
      `${listOf(missing)} ${missing.length === 1 ? 'is' : 'are'} not set in the environment.`,
    servers.length === 0 &&
      otherClient &&
      `${listOf(others.map(({ name }) => name))} without a prefix is not used, because ${otherClient} is set there for another client.`,
    hasPlatformNames &&
      !isPlatform &&
      `${listOf(platformNames.map((name) => prefix + name))} are read with ${prefix}AUTH_URL only.`,
    servers.length > 1 && `${listOf(servers.map(({ name }) => name))} are mutually exclusive.`,
    ...invalid.map(
      ({ name }) => `${name} is not a valid URL. Include the scheme, as in https://auth.example.com.`,
    ),
  ].filter((problem) => typeof problem === 'string')
  if (problems.length > 0) throw configurationError(problems.join(' '))
  const [server] = servers
  return { [server!.option]: server!.url, clientId, ...(secret && { clientSecret }) }
}

/** Such as `A, B and C`. */
export function listOf(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names)
}
