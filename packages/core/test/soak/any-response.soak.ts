import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { judgeAnswer } from '../parse-token-response/judge-answer.ts'
import { randomAnswer } from '../parse-token-response/random-answer.ts'

it('reads a million random responses as token responses or TokenErrors, each within 50 ms', () => {
  let slowestMs = 0
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      slowestMs = Math.max(slowestMs, judgeAnswer(randomAnswer(seed)))
    }),
    { numRuns: 1_000_000 },
  )
  process.stdout.write(`slowest answer: ${slowestMs.toFixed(1)} ms\n`)
  expect(slowestMs).toBeLessThan(50)
})
