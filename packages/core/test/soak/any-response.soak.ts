import * as fc from 'fast-check'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { it } from 'vitest'
import { checkResponse } from '../protocol/parse-token-response/check-response.ts'
import { randomResponse } from '../protocol/parse-token-response/random-response.ts'

const numRuns = 1_000_000
const table = createSoakTable()

it('reads a million random responses as token responses or TokenErrors', async () => {
  await table.measure('random responses', async () => {
    let worstMs = 0
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        worstMs = Math.max(worstMs, checkResponse(randomResponse(seed)))
      }),
      { numRuns },
    )
    return { calls: numRuns, failures: 0, worstMs }
  })
})
