import { rejectionReason } from './rejection-reason.ts'
import type { TokenVerificationFailure } from './token-verification-error.ts'

export interface Credentials {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

const scheme = /^(bearer|dpop) +/i
const another = /,\s*(?:bearer|dpop)\s/i
/** `b64token` of RFC 6750, section 2.1. */
const token68 = /^[\w.~+/-]+=*$/

/** Reads an `Authorization` header, or several of one request (RFC 6750, section 2.1; RFC 9449, section 7.1). */
export function readCredentials(
  authorization: string | readonly string[] | undefined,
  dpopRequired: boolean,
): Credentials | TokenVerificationFailure {
  if (typeof authorization === 'object' && authorization.length > 1) return severalTokens
  const header = (typeof authorization === 'object' ? authorization[0] : authorization)?.trim() ?? ''
  const [prefix, name] = scheme.exec(header) ?? none
  if (prefix === undefined) {
    return {
      code: 'missing_token',
      message: dpopRequired
        ? 'This API requires an access token. Send "Authorization: DPoP <token>" and a DPoP proof.'
        : 'This API requires an access token. Send "Authorization: Bearer <token>".',
    }
  }
  return { scheme: name!.length === 4 ? 'dpop' : 'bearer', token: header.slice(prefix.length) }
}

/**
 * What is wrong with the characters of a token. Takes as long as hashing it, so not for tokens that were valid before.
 */
export function findMalformation(token: string): TokenVerificationFailure | undefined {
  if (token68.test(token)) return undefined
  return another.test(token) ? severalTokens : malformedToken
}

/**
 * Whether a request carries no credentials for this API: no `Authorization` header, or one of another scheme. A header
 * without a token, and a token without its scheme, are mistakes.
 */
export function isAnonymous(authorization: string | readonly string[] | undefined): boolean {
  const [header = '', ...others] = [authorization ?? []].flat()
  return others.length === 0 && /^\s*(?!(?:bearer|dpop)\b)(?:[\w-]+ +\S.*)?$/i.test(header)
}

/** Whether a URL carries a token too, in any encoding of its parameter's name (RFC 6750, section 2.3). */
export function hasTokenInQuery(url: string): boolean {
  const [target] = url.split('#', 1) as [string]
  const at = target.indexOf('?')
  return at !== -1 && new URLSearchParams(target.slice(at)).has('access_token')
}

const none: readonly string[] = []

const severalTokens: TokenVerificationFailure = {
  code: 'invalid_request',
  message: 'The request carries more than one access token.',
}

export const invalidToken: TokenVerificationFailure = {
  code: 'invalid_token',
  message: 'The access token is invalid or expired.',
}

const malformedToken: TokenVerificationFailure = {
  ...invalidToken,
  reason: rejectionReason('format', 'malformed', 'the characters of RFC 6750, section 2.1'),
}
