import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkResponse } from './check-response.ts'
import { randomResponse } from './random-response.ts'

// The same runs each time; `pnpm soak` runs many more, with random seeds.
const seed = 20_261_121

describe('any response', () => {
  it('is a token response or a TokenError within a short time (20,000 random ones)', () => {
    let slowestMs = 0
    let tokens = 0
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const response = randomResponse(seed)
        slowestMs = Math.max(slowestMs, checkResponse(response))
        if (response.status === 200 && response.body.startsWith('{"access_token":"A1b2"')) tokens++
      }),
      { numRuns: 20_000, seed },
    )
    expect(tokens).toBeGreaterThan(100)
    // A guard against hanging, not a measurement.
    expect(slowestMs).toBeLessThan(10_000)
  }, 60_000)

  it('of arbitrary JSON is a token response or a TokenError', () => {
    fc.assert(
      fc.property(fc.constantFrom(200, 401, 500), fc.json(), fc.string(), (status, body, retryAfter) => {
        checkResponse({ status, headers: { 'retry-after': retryAfter }, body })
        checkResponse({
          status,
          headers: {},
          body: `{"access_token":"a","scope":${body},"fault":${body},"error":${body}}`,
        })
      }),
      { numRuns: 500, seed },
    )
  }, 60_000)

  it('of the maximum size is read in linear time', () => {
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
      for (const status of [200, 401, 500])
        expect(checkResponse({ status, headers: {}, body })).toBeLessThan(10_000)
    }
  })
})
