import { expect } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { parseTokenResponse, type TokenFailure } from '@tokenwell/core/protocol'
import type { RandomResponse } from './random-response.ts'

/** Parses a response: text, or a value that is sent as JSON. */
export function parse(response: unknown, status = 200, headers = {}): ReturnType<typeof parseTokenResponse> {
  return parseTokenResponse(
    status,
    headers,
    typeof response === 'string' ? response : JSON.stringify(response),
  )
}

/** Returns the TokenError that the response must cause. */
export function failure(response: unknown, status = 200, headers = {}): TokenFailure {
  try {
    parse(response, status, headers)
  } catch (error) {
    expect(error).toBeInstanceOf(TokenError)
    return error as TokenError
  }
  throw new Error('no error')
}

export const minimal = { access_token: 'A1b2', token_type: 'Bearer' }

const names =
  'accessToken tokenType expiresIn issuedAt scope clientId applicationName organizationName developerEmail'
const known = new Set(
  `${names} status refreshToken refreshTokenExpiresIn refreshCount level apiProducts extra refreshIn raw`.split(
    ' ',
  ),
)
const kinds = new Set(['credentials', 'configuration', 'throttled', 'unavailable', 'malformed'])

/** Checks that a response is read as a token response or a TokenError, and returns the milliseconds it took. */
export function checkResponse({ status, headers, body }: RandomResponse): number {
  const start = performance.now()
  let response: ReturnType<typeof parseTokenResponse>
  try {
    response = parseTokenResponse(status, headers, body)
  } catch (error) {
    const ms = performance.now() - start
    if (!(error instanceof TokenError) || !kinds.has(error.kind) || error.status !== status) throw error
    for (const code of [error.oauthError, error.vendorCode]) {
      if (code !== undefined && !/^[\w.-]{1,80}$/.test(code)) throw error
    }
    if (error.retryAfterMs !== undefined && !(error.retryAfterMs >= 0)) throw error
    return ms
  }
  const ms = performance.now() - start
  const { accessToken, tokenType, scope, expiresIn = 1, issuedAt, ...rest } = response
  const sound =
    status >= 200 &&
    status < 300 &&
    /^[ -~]+$/.test(accessToken) &&
    new Headers({ authorization: `Bearer ${accessToken}` }).get('authorization') ===
      `Bearer ${accessToken}` &&
    (tokenType === 'Bearer' || tokenType === 'DPoP') &&
    Array.isArray(scope) &&
    expiresIn >= 0 &&
    Number.isFinite(expiresIn) &&
    (issuedAt === undefined || !Number.isNaN(issuedAt.getTime())) &&
    Object.keys(rest).every((member) => known.has(member)) &&
    Object.values(rest).every((value) => value !== undefined && value !== null && value !== '')
  if (!sound) throw new Error(`unsound: ${JSON.stringify({ ...response, raw: null }).slice(0, 1_000)}`)
  return ms
}
