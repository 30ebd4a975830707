import { configurationError } from '../protocol/token-error.ts'
import { environmentVariables, listOf, readerOf, waysIn } from './environment-variables.ts'

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

const { clientId: idNames, clientSecret: secretNames } = environmentVariables
const serverOptions = ['authUrl', 'tokenEndpoint', 'issuer'] as const

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
  const read = readerOf(env)
  const readServers = (prefix: string) =>
    serverOptions.flatMap((option) => {
      const name = prefix + environmentVariables[option][0]
      const url = read(name)
      return url === '' ? [] : [{ option, name, url }]
    })
  const own = readServers(prefix)
  const others = prefix === '' ? [] : readServers('')
  const otherClient =
    others.length === 0 ? undefined : [...idNames, ...secretNames].find((name) => read(name) !== '')
  const servers = own.length > 0 || otherClient ? own : others
  // The ID and the secret of one client have the same position.
  const isSet = (position: 0 | 1): boolean =>
    read(prefix + idNames[position]) !== '' || (secret && read(prefix + secretNames[position]) !== '')
  const hasPlatformNames = !isSet(0) && isSet(1)
  const isPlatform = servers.length === 0 || servers.some(({ option }) => option === 'authUrl')
  const position = hasPlatformNames && isPlatform ? 1 : 0
  const [idName, secretName] = [idNames[position], secretNames[position]]
  const clientId = read(prefix + idName)
  const clientSecret = secret ? read(prefix + secretName) : ''
  const missing = [
    servers.length === 0 && `${prefix}AUTH_URL (or ${prefix}TOKEN_ENDPOINT or ${prefix}ISSUER)`,
    clientId === '' && prefix + idName,
    secret && clientSecret === '' && prefix + secretName,
  ].filter((name) => name !== false)
  const ways = secret && clientSecret === '' ? waysIn(read, prefix) : []
  const invalid = servers.filter(({ url }) => !URL.canParse(url))
  const problems = [
    missing.length > 0 &&
      `${listOf(missing)} ${missing.length === 1 ? 'is' : 'are'} not set in the environment.`,
    ways.length > 0 && explainWays(ways.map(({ variable }) => variable)),
    servers.length === 0 &&
      otherClient &&
      `${listOf(others.map(({ name }) => name))} without a prefix is not used, because ${otherClient} is set there for another client.`,
    hasPlatformNames &&
      !isPlatform &&
      `${listOf([idNames[1], secretNames[1]].map((name) => prefix + name))} are read with ${prefix}AUTH_URL only.`,
    servers.length > 1 && `${listOf(servers.map(({ name }) => name))} are mutually exclusive.`,
    ...invalid.map(
      ({ name }) => `${name} is not a valid URL. Include the scheme, as in https://auth.example.com.`,
    ),
  ].filter((problem) => typeof problem === 'string')
  if (problems.length > 0) throw configurationError(problems.join(' '))
  const [server] = servers
  return { [server!.option]: server!.url, clientId, ...(secret && { clientSecret }) }
}

/** Core imports neither a signature library nor the file system. */
function explainWays(names: readonly string[]): string {
  const verb = names.length === 1 ? 'is' : 'are'
  return (
    `${listOf(names)} ${verb} read by clientAuthenticationFrom of @tokenwell/client-authentication: ` +
    'pass { ...credentialsFrom(env, { secret: false }), ...clientAuthenticationFrom(env) }.'
  )
}
