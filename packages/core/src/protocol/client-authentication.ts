import { headerValue, type ResponseHeaders } from './headers.ts'
import type { TokenError } from './token-error.ts'

/** A token request as a {@link ClientAuthentication} sees it; it adds to `body` or `headers`. */
export interface ClientAuthenticationRequest {
  /** Empty for a client without an ID. */
  readonly clientId: string
  readonly tokenEndpoint: URL
  /** The authorization server's issuer identifier, if it is known. */
  readonly issuer?: string | undefined
  readonly body: URLSearchParams
  readonly headers: Headers
  readonly signal: AbortSignal
}

/** Proves a client's identity to the token endpoint (RFC 6749, section 2.3; RFC 7521). */
export interface ClientAuthentication {
  /** Called for each attempt, so that each gets a new assertion. What it adds is treated as secret. */
  authenticate(request: ClientAuthenticationRequest): void | Promise<void>
  /** Identifies the key, never an assertion: part of the cache key, and a change ends a cooldown. */
  fingerprint(): string | Promise<string>
  /** Whether a certificate authenticates the connection: the server's endpoint for mutual TLS is then used (RFC 8705). */
  readonly usesCertificate?: boolean | undefined
  /**
   * Changes when another attempt may succeed after a rejection, for example because a file was replaced.
   *
   * @default the fingerprint
   */
  revision?(): string | Promise<string>
  /**
   * Adds a hint to the message of a failed token request, for example about a wrong clock.
   *
   * @param headers of the response
   * @param request the one that {@link authenticate} has added to
   */
  explain?(error: TokenError, headers: ResponseHeaders, request: ClientAuthenticationRequest): void
}

/** Path of the platform's token endpoint, below `authUrl`. */
export const platformPath = '/oauth/client_credential/accesstoken'
/** Path of the platform's revocation endpoint. */
export const platformRevocationPath = '/oauth/revoke'

/** The built-in methods; `none` identifies the client by `client_id` alone, for mutual TLS or public clients. */
export type ClientAuthenticationMethod = 'client_secret_post' | 'client_secret_basic' | 'none'

/** Client ID and secret in the form body (RFC 6749, section 2.3.1). */
function post(clientSecret: string): ClientAuthentication {
  return {
    authenticate({ clientId, body }) {
      body.set('client_id', clientId)
      body.set('client_secret', clientSecret)
    },
    fingerprint: () => `post ${clientSecret}`,
    explain(error, headers) {
      // The platform expects them in the form, and a 401 names a scheme in any case (RFC 9110, section 15.5.2).
      if (error.tokenEndpoint?.endsWith(platformPath)) return
      if (error.status !== 401 || !/^\s*basic\b/i.test(headerValue(headers, 'www-authenticate') ?? '')) return
      error.message +=
        " The endpoint may expect HTTP Basic: then set clientAuthentication: 'client_secret_basic'."
    },
  }
}

/**
 * Client ID and secret in an `Authorization: Basic` header. RFC 6749, section 2.3.1: each half is
 * form-encoded before Base64. Servers that skip the decoding differ only for credentials with characters
 * other than letters, digits, `*`, `-`, `.` and `_`.
 */
function basic(clientSecret: string): ClientAuthentication {
  return {
    authenticate({ clientId, headers }) {
      headers.set('authorization', `Basic ${btoa(`${formEncode(clientId)}:${formEncode(clientSecret)}`)}`)
    },
    fingerprint: () => `basic ${clientSecret}`,
  }
}

const none: ClientAuthentication = {
  authenticate({ clientId, body }) {
    if (clientId) body.set('client_id', clientId)
  },
  fingerprint: () => 'none',
}

/** The built-in method with this name. */
export function createClientAuthentication(
  method: ClientAuthenticationMethod,
  clientSecret: string,
): ClientAuthentication {
  if (method === 'none') return none
  return method === 'client_secret_post' ? post(clientSecret) : basic(clientSecret)
}

/** The form-encoded value, as it is sent. */
export function formEncode(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1)
}
