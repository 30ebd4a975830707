import { runsInBrowser } from '../runtime/environment.ts'
import {
  checkClientAuthentication,
  checkCredential,
  checkSecret,
  checkParameters,
  tokenEndpointUrl,
  type TokenRequestOptions,
} from '../protocol/build-token-request.ts'
import {
  createClientAuthentication,
  type ClientAuthentication,
  type ClientAuthenticationMethod,
} from '../protocol/client-authentication.ts'
import { secureUrl } from '../protocol/secure-url.ts'
import type { TokenBinding } from '../protocol/token-binding.ts'
import { configurationError, failureOf, TokenError } from '../protocol/token-error.ts'
import { discover, type DiscoveredServer } from './discovery.ts'
import { listOf } from './environment-variables.ts'
import { whileWaiting } from '../runtime/wait.ts'
import type { FetchLike } from './send.ts'

/** The value of an option, or a function that returns it. */
export type Resolvable<Value> = Value | (() => Value | Promise<Value>)

/**
 * A token endpoint, and how a client authenticates to it. Set `authUrl`, `tokenEndpoint` or `issuer`. A function that
 * returns the value of an option is called before each token request, so that a module can be loaded without its
 * environment.
 */
export interface TokenEndpointOptions extends Omit<
  TokenRequestOptions,
  'authUrl' | 'tokenEndpoint' | 'clientId'
> {
  /** Base URL of the platform's token service. */
  readonly authUrl?: Resolvable<string | URL | undefined>
  /** URL of any other RFC 6749 token endpoint. */
  readonly tokenEndpoint?: Resolvable<string | URL | undefined>
  /**
   * URL of an issuer, exactly as in its metadata, including any trailing slash. The token endpoint, and how to send a
   * secret, are found there with the first token request, by RFC 8414 or OpenID Connect Discovery.
   */
  readonly issuer?: Resolvable<string | undefined>
  /** URL at which tokens are revoked (RFC 7009). @default that of the `issuer`, or of the platform with `authUrl` */
  readonly revocationEndpoint?: string | URL | undefined
  /** Client ID, also called consumer key. */
  readonly clientId?: Resolvable<string | undefined> | undefined
  /** Client secret, also called consumer secret. */
  readonly clientSecret?: Resolvable<string | undefined> | undefined
  /**
   * Credentials in the form body (`'client_secret_post'`), in an `Authorization: Basic` header
   * (`'client_secret_basic'`, RFC 6749, section 2.3.1; some servers do not form-decode it and then reject special
   * characters), the client ID alone (`'none'`), or a method of your own.
   * @default 'client_secret_post', or what `issuer` offers
   */
  readonly clientAuthentication?: ClientAuthenticationMethod | ClientAuthentication | undefined
  /** Binds the tokens to a key (DPoP, RFC 9449), so that a stolen token is useless. @default bearer tokens */
  readonly binding?: TokenBinding | undefined
  /** Further values of `token_type` whose tokens are sent as Bearer, such as `Application Access Token`. @default none */
  readonly tokenTypes?: readonly string[] | undefined
  /** Unit of `expires_in` in the response. @default 'seconds' */
  readonly expiresInUnit?: 'seconds' | 'milliseconds' | undefined
  /** Sends the token requests. @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Allows use in a browser, where anyone can read the secret. @default false */
  readonly dangerouslyAllowBrowser?: boolean | undefined
}

/** A client, once the functions among its options have returned. */
export interface ResolvedClient {
  /** Empty for a client without an ID. */
  readonly clientId: string
  /** Empty without one. */
  readonly secret: string
  readonly authentication: ClientAuthentication
  readonly tokenEndpoint: URL
  /** Base URL of the platform, if it is the server. */
  readonly authUrl: string | URL | undefined
  readonly issuer: string | undefined
  /** What is known of the issuer. */
  readonly server: DiscoveredServer | undefined
  /** Whether the secret was sent in the form because the issuer accepts it there as well as in a header. */
  readonly mayRequireBasic: boolean
}

/**
 * Checks everything but what functions will return.
 *
 * @param requiresClient whether a client must authenticate, as for client credentials
 * @throws {TokenError} of kind `configuration`, naming the option
 */
export function checkClient(options: TokenEndpointOptions, requiresClient: boolean): void {
  const { clientId, clientSecret, revocationEndpoint, allowInsecureRequests } = options
  if (runsInBrowser() && !options.dangerouslyAllowBrowser) {
    throw configurationError(
      'clientCredentials and other grants must not run in a browser, where anyone can read the client secret. ' +
        'Use backendTokens, or set dangerouslyAllowBrowser: true.',
    )
  }
  const method = methodOf(options, requiresClient)
  checkClientAuthentication(method)
  checkMissing(options, requiresClient)
  const isAnonymous = !requiresClient && method === 'none' && clientId === undefined
  if (typeof clientId !== 'function' && !isAnonymous) checkCredential('clientId', clientId)
  if (sendsSecret(method) && typeof clientSecret !== 'function') checkSecret(method, clientSecret)
  checkServer(options)
  if (revocationEndpoint !== undefined)
    secureUrl('revocationEndpoint', revocationEndpoint, allowInsecureRequests)
  checkParameters(options)
}

/** Names all at once if several options are missing; a single one has a message of its own. */
function checkMissing(options: TokenEndpointOptions, requiresClient: boolean): void {
  const { authUrl, tokenEndpoint, issuer, clientId, clientSecret } = options
  const isMissing = (value: unknown): boolean => value === undefined || value === null || value === ''
  const method = methodOf(options, requiresClient)
  const mayBeEmpty = method === 'client_secret_basic' && clientSecret === ''
  const missing = [
    [authUrl, tokenEndpoint, issuer].every(isMissing) && 'authUrl (or tokenEndpoint or issuer)',
    (requiresClient || method !== 'none') && isMissing(clientId) && 'clientId',
    sendsSecret(method) && isMissing(clientSecret) && !mayBeEmpty && 'clientSecret',
  ].filter((name) => name !== false)
  if (missing.length < 2) return
  throw configurationError(`${listOf(missing)} are missing. Set the variables that they come from.`)
}

/** How the client authenticates, unless its issuer decides. */
function methodOf(
  { clientAuthentication, clientSecret }: TokenEndpointOptions,
  requiresClient: boolean,
): ClientAuthenticationMethod | ClientAuthentication {
  const hasSecret = requiresClient || clientSecret !== undefined
  return clientAuthentication ?? (hasSecret ? 'client_secret_post' : 'none')
}

function sendsSecret(
  method: ClientAuthenticationMethod | ClientAuthentication,
): method is 'client_secret_post' | 'client_secret_basic' {
  return method === 'client_secret_post' || method === 'client_secret_basic'
}

type Server = Pick<TokenEndpointOptions, 'authUrl' | 'tokenEndpoint' | 'issuer' | 'allowInsecureRequests'>

function checkServer({ authUrl, tokenEndpoint, issuer, allowInsecureRequests }: Server): void {
  if (issuer !== undefined) {
    if (authUrl !== undefined || tokenEndpoint !== undefined) {
      throw configurationError('issuer, authUrl and tokenEndpoint are mutually exclusive.')
    }
    if (typeof issuer === 'function') return
    if (typeof issuer !== 'string') {
      throw configurationError("issuer must be a string, such as 'https://login.example.com'.")
    }
    if (secureUrl('issuer', issuer, allowInsecureRequests).search) {
      throw configurationError('issuer must not contain a query.')
    }
  } else if (typeof authUrl !== 'function' && typeof tokenEndpoint !== 'function') {
    tokenEndpointUrl({ authUrl, tokenEndpoint, allowInsecureRequests })
  }
}

/** What a client is resolved for. */
export interface ClientPurpose {
  /** Whether a client must authenticate, as for client credentials. */
  readonly requiresClient: boolean
  /** Whether the issuer's token endpoint is looked up; otherwise the issuer itself is used. */
  readonly discovers: boolean
  readonly grantType?: string | undefined
  /** Of the token request. */
  readonly signal?: AbortSignal | undefined
}

/** @throws {TokenError} if a function fails or returns an invalid value */
export async function resolveClient(
  options: TokenEndpointOptions,
  { requiresClient, discovers, grantType, signal }: ClientPurpose,
): Promise<ResolvedClient> {
  const { fetch, allowInsecureRequests } = options
  const authUrl = await resolveOption('authUrl', options.authUrl, signal)
  const issuer = await resolveOption('issuer', options.issuer, signal)
  const endpoint = await resolveOption('tokenEndpoint', options.tokenEndpoint, signal)
  const clientId = await resolveOption('clientId', options.clientId, signal, checkCredential)
  const method = methodOf(options, requiresClient)
  const check = sendsSecret(method) ? (_: string, value: unknown) => checkSecret(method, value) : undefined
  const secret = (await resolveOption('clientSecret', options.clientSecret, signal, check)) ?? ''
  const resolved = { authUrl, tokenEndpoint: endpoint, issuer, allowInsecureRequests }
  if ([options.authUrl, options.issuer, options.tokenEndpoint].some((each) => typeof each === 'function'))
    checkServer(resolved)
  const server =
    discovers && issuer !== undefined
      ? await discover(issuer, fetch, allowInsecureRequests, signal)
      : undefined
  const usesIssuersMethod = server && options.clientAuthentication === undefined && sendsSecret(method)
  const authentication = usesIssuersMethod ? server.secretMethod() : method
  const authenticated =
    typeof authentication === 'string' ? createClientAuthentication(authentication, secret) : authentication
  return {
    clientId: clientId ?? '',
    secret,
    authentication: authenticated,
    tokenEndpoint:
      server?.tokenEndpoint(authenticated.usesCertificate === true) ??
      (issuer === undefined ? tokenEndpointUrl(resolved, grantType) : new URL(issuer)),
    authUrl,
    issuer,
    server,
    mayRequireBasic: usesIssuersMethod === true && server.acceptsBoth,
  }
}

/** @param check of what a function returns; other values have been checked already */
export async function resolveOption<Value>(
  option: string,
  value: Resolvable<Value>,
  signal: AbortSignal | undefined,
  check?: (option: string, value: unknown) => void,
): Promise<Value> {
  if (typeof value !== 'function') return value
  let result: Value
  try {
    const returned = (value as () => Value | Promise<Value>)()
    result = await whileWaiting(signal, () => `The ${option} function`, Promise.resolve(returned))
  } catch (error) {
    throw failureOf(
      error,
      (code) => new TokenError({ kind: 'unavailable', message: `The ${option} function failed (${code}).` }),
    )
  }
  check?.(option, result)
  return result
}
