import {
  createClientAuthentication,
  type ClientAuthentication,
  type ClientAuthenticationMethod,
  platformPath,
} from './client-authentication.ts'
import { configurationError } from './token-error.ts'
import { secureUrl } from './secure-url.ts'

/** The parameters of a token request. Set `authUrl` or `tokenEndpoint`. */
export interface TokenRequestOptions {
  /** Base URL of the platform's token service. */
  readonly authUrl?: string | URL | undefined
  /** URL of any other RFC 6749 token endpoint. */
  readonly tokenEndpoint?: string | URL | undefined
  /** Client ID, also called consumer key. */
  readonly clientId: string
  /** Requested scopes, as a list or separated by spaces (RFC 6749, section 3.3). */
  readonly scope?: string | readonly string[] | undefined
  /** The API that the token is for, as its issuer calls it; several for token exchange (RFC 8693, section 2.1). */
  readonly audience?: string | readonly string[] | undefined
  /** URL of the API that the token is for (RFC 8707). */
  readonly resource?: string | readonly string[] | undefined
  /** Additional form parameters, without those that are undefined or null. A parameter that has its own option is rejected. */
  readonly parameters?: Readonly<Record<string, string | number | boolean | null | undefined>> | undefined
  /** Additional request headers, such as a gateway's API key, without those that are undefined. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** Allows plain HTTP to hosts other than loopback. @default false */
  readonly allowInsecureRequests?: boolean | undefined
}

/** A token request, ready for any HTTP client. `body` and `headers` hold the client secret. */
export interface TokenRequest {
  readonly url: URL
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly body: string
}

/** A token request before the client has authenticated. */
export interface UnauthenticatedTokenRequest {
  readonly headers: Headers
  readonly body: URLSearchParams
}

const reservedParameters = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
  'audience',
  'resource',
])
const reservedHeaders = /^(?:authorization|content-type|content-length|host|dpop)$/i

/**
 * Builds the client credentials request (RFC 6749, section 4.4.2); pure. With `authUrl`, it has the platform's
 * format: `grant_type` in the query, both credentials in the form body. With `tokenEndpoint`, it has that of RFC 6749:
 * `grant_type` in the body.
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function buildTokenRequest(
  options: TokenRequestOptions & {
    readonly clientSecret?: string | undefined
    /** @default 'client_secret_post' */
    readonly clientAuthentication?: ClientAuthenticationMethod | undefined
  },
): TokenRequest {
  const { clientId, clientSecret, clientAuthentication = 'client_secret_post' } = options
  checkClientAuthentication(clientAuthentication)
  if (clientAuthentication !== 'none') checkSecret(clientAuthentication, clientSecret)
  checkCredential('clientId', clientId)
  checkParameters(options)
  const url = tokenEndpointUrl(options)
  const { headers, body } = startTokenRequest(options, options.authUrl === undefined)
  const { signal } = new AbortController()
  void createClientAuthentication(clientAuthentication, clientSecret ?? '').authenticate({
    clientId,
    tokenEndpoint: url,
    headers,
    body,
    signal,
  })
  return { url, method: 'POST', headers: Object.fromEntries(headers), body: body.toString() }
}

/**
 * The request with everything but the grant's own parameters and the client's authentication.
 *
 * @param hasGrantType whether the body has a `grant_type`; otherwise, it is in the query of the URL
 */
export function startTokenRequest(
  options: Pick<TokenRequestOptions, 'scope' | 'audience' | 'resource' | 'parameters' | 'headers'>,
  hasGrantType: boolean,
  grantType = 'client_credentials',
): UnauthenticatedTokenRequest {
  const headers = new Headers({ accept: 'application/json' })
  for (const [name, value] of present(options.headers)) headers.set(name, value)
  headers.set('content-type', 'application/x-www-form-urlencoded')
  const body = new URLSearchParams()
  if (hasGrantType) body.set('grant_type', grantType)
  const scope = scopes(options.scope).join(' ')
  if (scope) body.set('scope', scope)
  for (const audience of [options.audience ?? []].flat()) if (audience) body.append('audience', audience)
  for (const resource of [options.resource ?? []].flat()) if (resource) body.append('resource', resource)
  for (const [name, value] of present(options.parameters)) body.set(name, value)
  return { headers, body }
}

/** Without members that have no value: an environment variable that is not set would be sent as `undefined`. */
function present(values: TokenRequestOptions['parameters']): [string, string][] {
  return Object.entries(values ?? {}).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, String(value)]],
  )
}

/** @throws {TokenError} of kind `configuration`, naming the option */
export function checkParameters(options: Pick<TokenRequestOptions, 'parameters' | 'headers'>): void {
  for (const [name, value] of Object.entries(options.parameters ?? {})) {
    if (reservedParameters.has(name)) {
      throw configurationError(
        `parameters must not contain ${name}. It is set by another option or by Tokenwell.`,
      )
    }
    // RFC 6749, section 3.2, forbids to send a parameter twice, as a list would require.
    const isText = ['string', 'boolean', 'undefined'].includes(typeof value) || Number.isFinite(value)
    if (!isText && value !== null) {
      throw configurationError(`parameters.${name} must be a string, a number or a boolean.`)
    }
  }
  for (const name of Object.keys(options.headers ?? {})) {
    if (reservedHeaders.test(name)) {
      throw configurationError(`headers must not contain ${name}. It is set by Tokenwell.`)
    }
  }
}

export function checkClientAuthentication(value: ClientAuthenticationMethod | ClientAuthentication): void {
  if (
    typeof value === 'string'
      ? !['client_secret_post', 'client_secret_basic', 'none'].includes(value)
      : !value?.authenticate
  ) {
    throw configurationError(
      "clientAuthentication must be 'client_secret_post', 'client_secret_basic', 'none' or a ClientAuthentication object.",
    )
  }
}

/** An empty secret is legal (RFC 6749, section 2.3.1), but more often a variable that is not set: it requires `basic`. */
export function checkSecret(method: ClientAuthenticationMethod | undefined, value: unknown): void {
  if (method !== 'client_secret_basic' || value !== '') checkCredential('clientSecret', value)
}

export function checkCredential(option: string, value: unknown): void {
  if (typeof value !== 'string' || value === '') {
    throw configurationError(`${option} is missing. Copy it from the developer portal.`)
  }
  // A secret read from a file often ends with a line break, and the server would reject it.
  if (/[\0-\x1f\x7f]/.test(value)) {
    throw configurationError(`${option} contains a line break or another control character. Remove it.`)
  }
}

/** The individual scopes (RFC 6749, section 3.3) of a list or a space-separated string. */
export function scopes(scope: TokenRequestOptions['scope']): readonly string[] {
  return [scope ?? []].flat().join(' ').match(/[^ ]+/g) ?? []
}

/**
 * The URL that a token request is sent to; for the platform, with its `grant_type`.
 *
 * @throws {TokenError} of kind `configuration`, naming the option
 */
export function tokenEndpointUrl(
  {
    authUrl,
    tokenEndpoint,
    allowInsecureRequests,
  }: Pick<TokenRequestOptions, 'authUrl' | 'tokenEndpoint' | 'allowInsecureRequests'>,
  grantType = 'client_credentials',
): URL {
  if (authUrl !== undefined && tokenEndpoint !== undefined) {
    throw configurationError('authUrl and tokenEndpoint are mutually exclusive.')
  }
  if (tokenEndpoint !== undefined) return secureUrl('tokenEndpoint', tokenEndpoint, allowInsecureRequests)
  if (authUrl === undefined) {
    throw configurationError(
      'authUrl is missing. Set it to the base URL of the token service, or set tokenEndpoint.',
    )
  }
  const url = secureUrl('authUrl', authUrl, allowInsecureRequests)
  if (url.search) throw configurationError('authUrl must not contain a query. Set only the base URL.')
  url.pathname = url.pathname.replace(/\/+$/, '') + platformPath
  url.searchParams.set('grant_type', grantType)
  return url
}
