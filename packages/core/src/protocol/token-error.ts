import { errorCode } from '../runtime/error-code.ts'

/**
 * The category of a failure, which determines what to do about it.
 *
 * - `credentials`: the client's credentials were rejected; repeating the request does not help.
 * - `configuration`: the request itself is wrong (URL, scope, grant); correct the options.
 * - `throttled`: too many requests; `retryAfterMs` is the time to wait, if the server sent one.
 * - `unavailable`: the token endpoint failed or could not be reached, even after retries.
 * - `malformed`: the response is not a token response.
 * - `aborted`: the provider or its pool was closed.
 */
export type TokenErrorKind =
  | 'credentials'
  | 'configuration'
  | 'throttled'
  | 'unavailable'
  | 'malformed'
  | 'aborted'

/** The facts of a failure; a shared store keeps these. Holds no body, secret or token. */
export interface TokenFailure {
  readonly kind: TokenErrorKind
  readonly message: string
  /** HTTP status of the response, if there was one. */
  readonly status?: number | undefined
  /**
   * Headers of the response that identify it, as far as it had them: `date`, `retry-after`, and the request ID, such as
   * `x-request-id`. Never stored.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** `error` of RFC 6749, section 5.2, if it has the form of a code. */
  readonly oauthError?: string | undefined
  /** The gateway's own fault code, if it has the form of a code. */
  readonly vendorCode?: string | undefined
  /** The server's own reason, redacted, as the message quotes it; never stored. */
  readonly reason?: string | undefined
  /** Time to wait, in milliseconds from the response (RFC 9110, section 10.2.3). */
  readonly retryAfterMs?: number | undefined
  /** Number of requests made before this error was reported. */
  readonly attempts?: number | undefined
  /** Failures in a row; a stored cooldown grows with them. */
  readonly failures?: number | undefined
  /** The client that requested the token. */
  readonly clientId?: string | undefined
  /** URL of the token endpoint, without query. */
  readonly tokenEndpoint?: string | undefined
}

const brand = Symbol.for('tokenwell.TokenError')
const facts = [
  'kind',
  'status',
  'headers',
  'oauthError',
  'vendorCode',
  'reason',
  'retryAfterMs',
  'attempts',
  'clientId',
  'tokenEndpoint',
] as const

/** No access token is available, for the reason in `kind`. Never holds a body, a secret or a token. */
export class TokenError extends Error implements TokenFailure {
  declare readonly kind: TokenErrorKind
  declare readonly status?: number
  declare readonly headers?: Readonly<Record<string, string>>
  declare readonly oauthError?: string
  declare readonly vendorCode?: string
  declare readonly reason?: string
  declare readonly retryAfterMs?: number
  declare readonly attempts?: number
  declare readonly clientId?: string
  declare readonly tokenEndpoint?: string

  /** @param cause kept as it is: it must hold no secret */
  constructor(failure: TokenFailure, cause?: unknown) {
    super(failure.message, cause === undefined ? undefined : { cause })
    this.name = 'TokenError'
    for (const fact of facts) if (failure[fact] !== undefined) Object.assign(this, { [fact]: failure[fact] })
  }

  /** True across copies of this package in one program. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== TokenError) return Function.prototype[Symbol.hasInstance].call(this, value)
    return isTokenError(value)
  }
}

Object.defineProperty(TokenError.prototype, brand, { value: true })

/** Whether a value is a {@link TokenError}, of this or of another copy of the package. */
export function isTokenError(value: unknown): value is TokenError {
  return typeof value === 'object' && value !== null && brand in value
}

/** A copy of a shared failure with a stack of its own, so that nobody changes what others get; any other value as it is. */
export function copyTokenError(error: unknown): unknown {
  return isTokenError(error) ? changeTokenError(error, {}) : error
}

/** A copy of an error with some facts changed. */
export function changeTokenError(
  error: TokenError,
  changes: Partial<TokenFailure>,
  cause: unknown = error.cause,
): TokenError {
  const failure: TokenFailure = Object.assign({}, error, { message: error.message }, changes)
  return new TokenError(failure, cause)
}

/** Appends the server's own reason to the message. */
export function quoteReason(error: TokenError, reason: string): TokenError {
  return changeTokenError(error, { message: `${error.message} "${reason}"`, reason })
}

/** The message without the server's own reason: what may leave the process, such as to a shared store. */
export function messageWithoutReason({ message, reason }: TokenError): string {
  return reason === undefined ? message : message.replace(` "${reason}"`, '')
}

/**
 * The error for invalid options; for authors of adapters and stores.
 *
 * @param message names the option, what is wrong with it, and how to fix it
 */
export function configurationError(message: string): TokenError {
  return new TokenError({ kind: 'configuration', message })
}

/**
 * What a caller gets for anything that was thrown: a TokenError as it is, any other error as `describe` says. Only the code
 * or name of the error is kept, because its text may hold a secret.
 *
 * Next.js throws to control its rendering: at an uncached `fetch` while it prerenders a page, which it then renders for each
 * request. Such a signal is no failure: it must reach Next.js unchanged, so this returns it, and it is not a TokenError.
 */
export function failureOf(cause: unknown, describe: (code: string) => TokenError): Error {
  if (isTokenError(cause) || nextjsSignals.includes(Object(cause).digest)) return cause as Error
  return describe(errorCode(cause))
}

const nextjsSignals = ['DYNAMIC_SERVER_USAGE', 'HANGING_PROMISE_REJECTION']
