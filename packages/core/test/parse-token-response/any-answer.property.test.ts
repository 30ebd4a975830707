import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseTokenResponse, TokenError } from '@tokenwell/core'
import { randomAnswer, type RandomAnswer } from './random-answer.ts'

const names =
  'accessToken tokenType expiresIn issuedAt scope clientId applicationName organizationName developerEmail'
const known = new Set(
  `${names} status refreshToken refreshTokenExpiresIn refreshCount level apiProducts raw`.split(' '),
)
const kinds = new Set(['credentials', 'configuration', 'throttled', 'unavailable', 'malformed'])

/** What every answer must come to: a token response, or a TokenError. Milliseconds taken. */
function judge({ status, headers, body }: RandomAnswer): number {
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
    tokenType === 'Bearer' &&
    Array.isArray(scope) &&
    expiresIn > 0 &&
    Number.isFinite(expiresIn) &&
    (issuedAt === undefined || !Number.isNaN(issuedAt.getTime())) &&
    Object.keys(rest).every((member) => known.has(member)) &&
    Object.values(rest).every((value) => value !== undefined && value !== null && value !== '')
  if (!sound) throw new Error(`unsound: ${JSON.stringify({ ...response, raw: null }).slice(0, 1_000)}`)
  return ms
}

describe('any answer whatever', () => {
  it('is a token response or a TokenError, and soon: 100,000 random ones', () => {
    let slowestMs = 0
    let tokens = 0
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const answer = randomAnswer(seed)
        slowestMs = Math.max(slowestMs, judge(answer))
        if (answer.status === 200 && answer.body.startsWith('{"access_token":"A1b2"')) tokens++
      }),
      { numRuns: 100_000 },
    )
    expect(tokens).toBeGreaterThan(1_000)
    // A guard against hanging, not a measurement.
    expect(slowestMs).toBeLessThan(1_000)
  }, 60_000)

  it('made of arbitrary JSON is as well, and shrinks to what breaks it', () => {
    fc.assert(
      fc.property(fc.constantFrom(200, 401, 500), fc.json(), fc.string(), (status, body, retryAfter) => {
        judge({ status, headers: { 'retry-after': retryAfter }, body })
        judge({
          status,
          headers: {},
          body: `{"access_token":"a","scope":${body},"fault":${body},"error":${body}}`,
        })
      }),
      { numRuns: 2_000 },
    )
  }, 60_000)

  it('as large as is let through takes no more than its reading', () => {
    const size = 1024 * 1024 - 200
    const token = '"access_token":"A1b2","token_type":"Bearer"'
    const fill = (piece: string): string => piece.repeat(size / piece.length)
    const large = [
      `{${token},"scope":"${fill(' ')}"}`,
      `{${token},"scope":"${fill('a ')}"}`,
      `{${token},"expires_in":"${fill(' ')}x"}`,
      `{${token},"expires_in":"${fill('9')}"}`,
      `{${token},"api_product_list":"${fill(']')}"}`,
      `{${token},"api_product_list":"${fill('] ')}x"}`,
      `{${token},"api_product_list":"${fill(',')}"}`,
      `{"access_token":"${fill('a')}"}`,
      `{"access_token":"a${fill(' ')}"}`,
      `{"access_token":"${fill('a ')}\\n"}`,
      `{"token_type":"${fill('bearer')}"}`,
      `{"fault":{"faultstring":"${fill('app')}"}}`,
      `{"fault":{"faultstring":[${fill('1,')}1]}}`,
      `{"fault":{"faultstring":${fill('[')}`,
      `{"error":"${fill('a')}"}`,
      `{"fault":{"detail":{"errorcode":"${fill('spike')}"}}}`,
      `{${Array.from({ length: 60_000 }, (_, index) => `"m${index}":1`).join(',')}}`,
      fill('{"a":'),
      fill('['),
      `${fill('[').slice(0, 500_000)}${fill(']').slice(0, 500_000)}`,
      fill('<quota '),
      fill('spike arrest '),
    ]
    for (const body of large) {
      for (const status of [200, 401, 500]) expect(judge({ status, headers: {}, body })).toBeLessThan(1_000)
    }
  })
})
