import type { ClientCredentialsOptions } from '../sources/client-credentials.ts'
import { configurationError, secureUrl } from './secure-url.ts'

/** A token request, ready for any HTTP client. `body` and `headers` hold the client secret. */
export interface TokenRequest {
  readonly url: URL
  readonly method: 'POST'
  readonly headers: Record<string, string>
  readonly body: string
}

const platformPath = '/oauth/client_credential/accesstoken'
const reserved = new Set([
  'grant_type',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'scope',
  'audience',
  'resource',
])

/**
 * Builds the client credentials request (RFC 6749, section 4.4.2); pure. With `authUrl` it is the
 * platform's: `grant_type` in the query, both credentials in the form body. With `tokenUrl` it is
 * any RFC 6749 token endpoint's: `grant_type` in the body.
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for options that cannot be right
 */
export function buildTokenRequest(
  options: Omit<ClientCredentialsOptions, 'clientSecret'> & { readonly clientSecret: string },
): TokenRequest {
  const url = tokenEndpoint(options)
  const clientId = credential('clientId', options.clientId)
  const clientSecret = credential('clientSecret', options.clientSecret)
  const body = new URLSearchParams()
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  }
  if (options.authUrl !== undefined) url.searchParams.set('grant_type', 'client_credentials')
  else body.set('grant_type', 'client_credentials')
  if ((options.clientAuthentication ?? 'post') === 'post') {
    body.set('client_id', clientId)
    body.set('client_secret', clientSecret)
  } else if (options.clientAuthentication === 'basic') {
    headers['authorization'] = `Basic ${btoa(`${formEncode(clientId)}:${formEncode(clientSecret)}`)}`
  } else {
    throw configurationError("clientAuthentication must be 'post' or 'basic'")
  }
  const scope = scopes(options.scope).join(' ')
  if (scope) body.set('scope', scope)
  if (options.audience) body.set('audience', options.audience)
  for (const resource of [options.resource ?? []].flat()) body.append('resource', resource)
  for (const [name, value] of Object.entries(options.extraParameters ?? {})) {
    if (reserved.has(name)) {
      throw configurationError(`extraParameters must not hold ${name}; it has a place of its own`)
    }
    body.append(name, value)
  }
  return { url, method: 'POST', headers, body: body.toString() }
}

/** Single scopes of RFC 6749, section 3.3, whether they come as a list or blank-separated. */
export function scopes(scope: ClientCredentialsOptions['scope']): readonly string[] {
  return [scope ?? []].flat().join(' ').match(/[^ ]+/g) ?? []
}

function tokenEndpoint({
  authUrl,
  tokenUrl,
  allowInsecure,
}: Omit<ClientCredentialsOptions, 'clientSecret'>): URL {
  if (authUrl !== undefined && tokenUrl !== undefined) {
    throw configurationError('authUrl and tokenUrl exclude each other; give one')
  }
  if (tokenUrl !== undefined) return secureUrl('tokenUrl', tokenUrl, allowInsecure)
  if (authUrl === undefined) {
    throw configurationError('authUrl is missing; give the base address of the token service, or tokenUrl')
  }
  const url = secureUrl('authUrl', authUrl, allowInsecure)
  if (url.search) throw configurationError('authUrl must carry no query; give the base address alone')
  url.pathname = url.pathname.replace(/\/+$/, '') + platformPath
  return url
}

function credential(option: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') {
    throw configurationError(`${option} is missing or empty; give the one that the developer portal shows`)
  }
  // A secret read from a file often ends with a line break, and is then refused as wrong.
  if (/[\0-\x1f\x7f]/.test(value)) {
    throw configurationError(`${option} holds a line break or another control character; trim it`)
  }
  return value
}

/**
 * RFC 6749, section 2.3.1: each half is form-encoded before Base64. Servers that skip the decoding differ
 * only for credentials with characters other than letters, digits, `*`, `-`, `.` and `_`.
 */
function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1)
}
