import type { TokenVerificationFailure } from './token-verification-error.ts'

export interface Credentials {
  readonly scheme: 'bearer' | 'dpop'
  readonly token: string
}

const none: readonly string[] = []
const pattern = /^(bearer|dpop) +(.+)$/is
const another = /,\s*(?:bearer|dpop)\s/i
/** `b64token` of RFC 6750, section 2.1. */
const token68 = /^[\w.~+/-]+=*$/

/** Reads an `Authorization` header, or several of one request (RFC 6750, section 2.1; RFC 9449, section 7.1). */
export function readCredentials(
  authorization: string | readonly string[] | undefined,
): Credentials | TokenVerificationFailure {
  const header = typeof authorization === 'object' ? authorization[0] : authorization
  if (typeof authorization === 'object' && authorization.length > 1) return severalTokens
  const [, scheme = '', token = ''] = pattern.exec(header?.trim() ?? '') ?? none
  if (token === '') {
    return {
      code: 'missing_token',
      message: 'This API needs an access token: send "Authorization: Bearer <token>".',
    }
  }
  if (!token68.test(token)) return another.test(token) ? severalTokens : invalidToken
  return { scheme: scheme.length === 4 ? 'dpop' : 'bearer', token }
}

const severalTokens: TokenVerificationFailure = {
  code: 'invalid_request',
  message: 'The request carries more than one access token.',
}

export const invalidToken: TokenVerificationFailure = {
  code: 'invalid_token',
  message: 'The access token is invalid or expired.',
}
