/**
 * What went wrong, and so what to do about it.
 *
 * - `credentials`: the client ID or secret is refused; asking again does not help.
 * - `configuration`: the request itself is wrong (address, scope, grant); mend the options.
 * - `throttled`: too many requests; `retryAfterMs` says when to come back, if the server did.
 * - `unavailable`: the token endpoint could not be reached or failed; it was tried again already.
 * - `malformed`: an answer came that is no token response.
 * - `aborted`: the provider was closed while the token was awaited.
 */
export type TokenErrorKind =
  | 'credentials'
  | 'configuration'
  | 'throttled'
  | 'unavailable'
  | 'malformed'
  | 'aborted'

/** The facts of a failure; what a shared store keeps of it. Holds no body, secret or token. */
export interface TokenFailure {
  readonly kind: TokenErrorKind
  readonly message: string
  /** HTTP status of the answer, if there was one. */
  readonly status?: number | undefined
  /** `error` of RFC 6749, section 5.2, when it has the shape of a code. */
  readonly oauthError?: string | undefined
  /** The gateway's own fault code, when it has the shape of a code. */
  readonly vendorCode?: string | undefined
  /** When to come back, in milliseconds from the answer (RFC 9110, section 10.2.3). */
  readonly retryAfterMs?: number | undefined
  /** How many requests were made before this error was given up to the caller. */
  readonly attempts?: number | undefined
}

/** No access token could be had; `kind` says why. Never holds a body, a secret or a token. */
export class TokenError extends Error implements TokenFailure {
  declare readonly kind: TokenErrorKind
  declare readonly status?: number
  declare readonly oauthError?: string
  declare readonly vendorCode?: string
  declare readonly retryAfterMs?: number
  declare readonly attempts?: number

  constructor(failure: TokenFailure) {
    super(failure.message)
    this.name = 'TokenError'
    for (const fact of facts) if (failure[fact] !== undefined) Object.assign(this, { [fact]: failure[fact] })
  }
}

const facts = ['kind', 'status', 'oauthError', 'vendorCode', 'retryAfterMs', 'attempts'] as const
