import { TokenError, type TokenErrorKind } from '@tokenwell/core'
import type { RejectionReason } from './rejection-reason.ts'

/**
 * Why a request is rejected.
 *
 * - `missing_token`: it carries no access token.
 * - `invalid_request`: it carries more than one access token.
 * - `invalid_token`: the token is malformed, expired, revoked, for another API, or bound to another key.
 * - `invalid_dpop_proof`: the proof of possession is missing, wrong or already used (RFC 9449, section 7.1).
 * - `insufficient_scope`: the token is valid, but does not cover a product, scope or claim that the request requires.
 * - `unavailable`: the token could not be checked; `cause` is the reason.
 */
export type TokenVerificationErrorCode =
  | 'missing_token'
  | 'invalid_request'
  | 'invalid_token'
  | 'invalid_dpop_proof'
  | 'insufficient_scope'
  | 'unavailable'

export interface TokenVerificationFailure {
  readonly code: TokenVerificationErrorCode
  /** For the caller of the API. */
  readonly message: string
  /** For the operator of the API. */
  readonly reason?: RejectionReason | undefined
  /** Scopes that the request requires. */
  readonly scopes?: readonly string[] | undefined
  /** Products that the token does not cover. */
  readonly missingProducts?: readonly string[] | undefined
  /** Scopes that the token does not cover. */
  readonly missingScopes?: readonly string[] | undefined
  readonly clientId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

const statuses = {
  missing_token: 401,
  invalid_request: 400,
  invalid_token: 401,
  invalid_dpop_proof: 401,
  insufficient_scope: 403,
  unavailable: 503,
} as const satisfies Record<TokenVerificationErrorCode, number>

/** A request that is rejected. Contains the whole response to it, and never the token. */
export class TokenVerificationError extends Error {
  readonly code: TokenVerificationErrorCode
  readonly status: 400 | 401 | 403 | 503
  /** Why the token was rejected, for a log: not part of `body` or `headers`. Undefined if it could not be checked. */
  readonly reason: RejectionReason | undefined
  /** The client of a valid token that does not cover what is required. */
  readonly clientId: string | undefined
  readonly missingProducts: readonly string[]
  readonly missingScopes: readonly string[]
  /** Time to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** The value of `WWW-Authenticate` (RFC 6750, section 3); none with status 503. */
  readonly challenge: string | undefined
  /** All headers of the response that concern the token; their names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** What to send as JSON. */
  readonly body: object

  constructor(
    failure: TokenVerificationFailure,
    challenge?: string,
    toBody: (error: TokenVerificationError) => object = standardBody,
  ) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause })
    this.name = 'TokenVerificationError'
    this.code = failure.code
    this.status = statuses[failure.code]
    this.reason = failure.reason
    this.clientId = failure.clientId
    this.missingProducts = failure.missingProducts ?? []
    this.missingScopes = failure.missingScopes ?? []
    this.retryAfterMs = failure.retryAfterMs
    this.challenge = challenge
    this.headers = {
      ...(challenge !== undefined && { 'www-authenticate': challenge }),
      ...(failure.retryAfterMs !== undefined && {
        'retry-after': String(Math.max(1, Math.ceil(failure.retryAfterMs / 1000))),
      }),
    }
    this.body = toBody(this)
  }
}

/** The response to a request without credentials states no reason (RFC 6750, section 3.1). */
export function standardBody({ code, message }: TokenVerificationError): object {
  return code === 'missing_token'
    ? { error_description: message }
    : { error: code, error_description: message }
}

const statusTexts = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 503: 'Service Unavailable' }

/** The error body of NestJS' own exceptions. */
export function nestBody({ status, message }: TokenVerificationError): object {
  return { statusCode: status, message, error: statusTexts[status] }
}

/** The error body of the gateway in front of the platform's APIs. */
export function platformBody({
  code,
  message,
  missingProducts,
  missingScopes,
}: TokenVerificationError): object {
  switch (code) {
    case 'missing_token':
    case 'invalid_request':
      return fault(message, 'oauth.v2.InvalidRequest')
    case 'invalid_token':
    case 'invalid_dpop_proof':
      return fault('Invalid Access Token', 'keymanagement.service.invalid_access_token')
    case 'insufficient_scope':
      return missingProducts.length > 0
        ? fault(
            'Invalid API call as no apiproduct match found',
            'keymanagement.service.InvalidAPICallAsNoApiProductMatchFound',
          )
        : fault(`Required scope(s) : ${missingScopes.join(' ')}`, 'steps.oauth.v2.InsufficientScope')
    case 'unavailable':
      return fault(message, 'messaging.adaptors.http.flow.ServiceUnavailable')
  }
}

function fault(faultstring: string, errorcode: string): object {
  return { fault: { faultstring, detail: { errorcode } } }
}

export function tokenError(kind: TokenErrorKind, message: string): TokenError {
  return new TokenError({ kind, message })
}

export interface ChallengeOptions {
  readonly realm: string
  /** URL of the API's metadata (RFC 9728, section 5.1). */
  readonly metadataUrl?: string | undefined
  /** Algorithms of proofs; undefined where DPoP is not advertised. */
  readonly dpopAlgorithms: readonly string[] | undefined
  readonly dpopRequired: boolean
}

/** The value of `WWW-Authenticate` (RFC 6750, section 3; RFC 9449, section 7.1). */
export function createChallenge(
  failure: TokenVerificationFailure,
  scheme: 'bearer' | 'dpop' | undefined,
  { realm, metadataUrl, dpopAlgorithms, dpopRequired }: ChallengeOptions,
): string | undefined {
  if (failure.code === 'unavailable') return undefined
  const reason: Record<string, string> =
    failure.code === 'missing_token'
      ? {}
      : { error: failure.code, error_description: failure.message.replace(/\.$/, '') }
  const scope = failure.scopes?.join(' ')
  const metadata: Record<string, string> = metadataUrl === undefined ? {} : { resource_metadata: metadataUrl }
  const bearer = { realm, ...reason, ...(scope && { scope }), ...metadata }
  const dpop = { algs: dpopAlgorithms?.join(' ') ?? '' }
  if (scheme === 'dpop') return challenge('DPoP', { ...bearer, ...(dpopAlgorithms && dpop) })
  if (dpopRequired && scheme === undefined) return challenge('DPoP', { ...bearer, ...dpop })
  return dpopAlgorithms
    ? `${challenge('Bearer', bearer)}, ${challenge('DPoP', { realm, ...dpop })}`
    : challenge('Bearer', bearer)
}

function challenge(scheme: string, parameters: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(parameters).map(([name, value]) => `${name}="${quotable(value)}"`)
  return `${scheme} ${pairs.join(', ')}`
}

/** Only characters that RFC 6750 allows in a description. */
function quotable(value: string): string {
  return value.replaceAll(/["\\]/g, "'").replaceAll(/[^\x20-\x7e]/g, '?')
}
