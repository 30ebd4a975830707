import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkResponse } from '../parse-token-response/check-response.ts'
import { randomResponse } from '../parse-token-response/random-response.ts'

it('reads a million random responses as token responses or TokenErrors, each within 50 ms', () => {
  let slowestMs = 0
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      slowestMs = Math.max(slowestMs, checkResponse(randomResponse(seed)))
    }),
    { numRuns: 1_000_000 },
  )
  process.stdout.write(`slowest response: ${slowestMs.toFixed(1)} ms\n`)
  expect(slowestMs).toBeLessThan(50)
})
