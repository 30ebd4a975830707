import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkResponse } from './check-response.ts'
import { largeBodies, randomResponse } from './random-response.ts'

// The same runs each time; `pnpm soak` runs many more, with random seeds.
const seed = 20_261_121

describe('any response', () => {
  it('is a token response or a TokenError within a short time (5,000 random ones)', () => {
    let slowestMs = 0
    let tokens = 0
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const response = randomResponse(seed)
        slowestMs = Math.max(slowestMs, checkResponse(response))
        if (response.status === 200 && response.body.startsWith('{"access_token":"A1b2"')) tokens++
      }),
      { numRuns: 5_000, seed },
    )
    expect(tokens).toBeGreaterThan(100)
    // A guard against hanging, not a measurement.
    expect(slowestMs).toBeLessThan(10_000)
  })

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
  })

  it('of the maximum size is read in linear time', () => {
    for (const body of largeBodies(1024 * 1024 - 200)) {
      for (const status of [200, 401, 500])
        expect(checkResponse({ status, headers: {}, body })).toBeLessThan(10_000)
    }
  })
})
