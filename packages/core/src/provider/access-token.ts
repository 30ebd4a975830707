import { Redacted } from '../runtime/redacted.ts'
import type { TokenBinding } from '../protocol/token-binding.ts'
import type { TokenResponse } from '../protocol/token-response.ts'
import type { TokenSource } from '../protocol/token-source.ts'

/** An access token with its lifetime. Logs and JSON show only its type and expiry. */
export interface AccessToken {
  /** The token itself, for the `Authorization` header. */
  readonly value: string
  /** `DPoP` for a token bound to a key (RFC 9449). */
  readonly tokenType: 'Bearer' | 'DPoP'
  /** When it expires by this machine's wall clock, counted from the moment it was requested. */
  readonly expiresAt: Date
  /** The whole token response. */
  readonly response: TokenResponse
  /** Proves possession of the key that the token is bound to; undefined for a bearer token. */
  readonly binding?: TokenBinding | undefined
  /** URL of the API that it is for, if it must be sent only to this and to what is below it. */
  readonly resource?: string | undefined
}

interface Contents {
  readonly value: string
  readonly response: TokenResponse
  readonly expiresAtMs: number
  readonly remainingMs: () => number
}

class IssuedToken extends Redacted implements AccessToken {
  readonly #contents: Contents
  // Read for each request.
  readonly tokenType: AccessToken['tokenType']
  declare readonly binding?: TokenBinding
  declare readonly resource?: string

  constructor(contents: Contents, { binding, resource }: Pick<TokenSource, 'binding' | 'resource'>) {
    super()
    this.#contents = contents
    this.tokenType = contents.response.tokenType
    if (binding) this.binding = binding
    if (resource !== undefined) this.resource = resource
  }

  /** Undefined for another provider's token, and for a copy, whose members test runners read. */
  static contentsOf(token: AccessToken): Contents | undefined {
    return #contents in token ? token.#contents : undefined
  }

  // Without the function, because programs read it with each call: twice as fast.
  get value(): string {
    return (#contents in this ? this.#contents.value : undefined) as string
  }

  get expiresAt(): Date {
    return new Date(IssuedToken.contentsOf(this)?.expiresAtMs ?? Number.NaN)
  }

  get response(): TokenResponse {
    return IssuedToken.contentsOf(this)?.response as TokenResponse
  }

  toJSON(): object {
    return { value: '[redacted]', tokenType: this.tokenType, expiresAt: this.expiresAt }
  }
}

/** Readable, but not shown where the response is logged. */
const hiddenMembers = ['accessToken', 'refreshToken', 'extra'] as const

/**
 * @param expiresAtMs milliseconds since 1970
 * @param remainingMs remaining lifetime, by the clock that advanced further
 */
export function createAccessToken(
  response: TokenResponse,
  expiresAtMs: number,
  remainingMs: () => number,
  source: Pick<TokenSource, 'binding' | 'resource'>,
): AccessToken {
  // A custom source may omit these.
  const { tokenType = 'Bearer', scope = [] } = response as Partial<TokenResponse>
  const shown: TokenResponse = { ...response, tokenType, scope }
  for (const member of hiddenMembers) {
    Object.defineProperty(shown, member, { get: () => response[member], enumerable: false })
  }
  const { accessToken: value } = response
  return new IssuedToken({ value, response: Object.freeze(shown), expiresAtMs, remainingMs }, source)
}

/** Remaining lifetime in milliseconds: by both clocks for a provider's token, by the wall clock for any other. */
export function remainingLifetimeMs(token: AccessToken): number {
  return IssuedToken.contentsOf(token)?.remainingMs() ?? token.expiresAt.getTime() - Date.now()
}

/**
 * The response body with which a backend passes a token to its frontend (see {@link backendTokens}): a token
 * response whose `expires_in` is the remaining lifetime in whole seconds. Send it with `Cache-Control: no-store`.
 */
export function tokenResponseBody(token: AccessToken): {
  access_token: string
  token_type: AccessToken['tokenType']
  expires_in: number
} {
  const expiresIn = Math.max(0, Math.floor(remainingLifetimeMs(token) / 1000))
  return { access_token: token.value, token_type: token.tokenType, expires_in: expiresIn }
}
