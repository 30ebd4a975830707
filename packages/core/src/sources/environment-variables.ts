import { configurationError } from '../protocol/token-error.ts'

/**
 * The environment variables of a client, by what they set. The first names of `clientId` and `clientSecret` belong together, and so do
 * the second ones, as the platform calls them.
 */
export const environmentVariables = {
  issuer: ['ISSUER'],
  tokenEndpoint: ['TOKEN_ENDPOINT'],
  authUrl: ['AUTH_URL'],
  clientId: ['CLIENT_ID', 'CONSUMER_KEY'],
  clientSecret: ['CLIENT_SECRET', 'CONSUMER_SECRET'],
  clientSecretFile: ['CLIENT_SECRET_FILE'],
  privateKey: ['PRIVATE_KEY_FILE'],
  keyId: ['KEY_ID'],
  certificate: ['CERTIFICATE_FILE'],
  assertionFile: ['ASSERTION_FILE'],
  identity: ['IDENTITY'],
  assertionAudience: ['ASSERTION_AUDIENCE'],
} as const

/** How a client authenticates without a secret in a variable. */
export const authenticationWays = ['clientSecretFile', 'privateKey', 'assertionFile', 'identity'] as const

/** How a client authenticates, by its environment. */
export interface EnvironmentAuthentication {
  readonly way: 'clientSecret' | (typeof authenticationWays)[number]
  /** The variable that says so, with its prefix. */
  readonly variable: string
  readonly value: string
  /** Variables that are set as well, but over which `CLIENT_SECRET` takes precedence. */
  readonly ignored: readonly string[]
}

/** The variables that name a way to authenticate and are set. */
export function waysIn(
  read: (name: string) => string,
  prefix: string,
): readonly Pick<EnvironmentAuthentication, 'way' | 'variable' | 'value'>[] {
  return authenticationWays.flatMap((way) => {
    const variable = prefix + environmentVariables[way][0]
    const value = read(variable)
    return value === '' ? [] : [{ way, variable, value }]
  })
}

/**
 * Decides how the client of `CLIENT_ID` authenticates. Undefined without `CLIENT_ID`: a variable such as `IDENTITY` is then not about
 * a client.
 *
 * @param read returns the value of a variable, or an empty text
 * @throws {TokenError} of kind `configuration`, naming both, if two variables are set besides `CLIENT_SECRET`
 */
export function authenticationIn(
  read: (name: string) => string,
  prefix = '',
): EnvironmentAuthentication | undefined {
  if (read(prefix + environmentVariables.clientId[0]) === '') return undefined
  const found = waysIn(read, prefix)
  const names = found.map(({ variable }) => variable)
  const variable = prefix + environmentVariables.clientSecret[0]
  const value = read(variable)
  if (value !== '') return { way: 'clientSecret', variable, value, ignored: names }
  if (found.length > 1) throw configurationError(`${listOf(names)} are mutually exclusive. Set one of them.`)
  return found[0] && { ...found[0], ignored: [] }
}

/** Such as `A, B and C`. */
export function listOf(names: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(names)
}

/** Reads variables of `process.env`, the bindings of a Worker, or what a function returns; an empty text if one is not set. */
export function readerOf(env: object | ((name: string) => unknown)): (name: string) => string {
  return (name) => {
    const value: unknown = typeof env === 'function' ? env(name) : (env as Record<string, unknown>)[name]
    return typeof value === 'string' ? value : ''
  }
}
