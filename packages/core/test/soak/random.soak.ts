import * as fc from 'fast-check'
import { describe, it, vi } from 'vitest'
import { createMemoryTokenStore } from '@tokenwell/core'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { checkResponse } from '../protocol/parse-token-response/check-response.ts'
import { randomResponse } from '../protocol/parse-token-response/random-response.ts'
import { playPool } from '../provider/random-pool.ts'
import { playLifetimes } from '../provider/random-lifetimes.ts'
import { flakyStore, plan, play } from '../provider/interleaving.ts'
import { useFakeTime } from '../support/fake-time.ts'

// `SEED` repeats a run, `RUNS` lengthens it.
const numRuns = Number(process.env['RUNS'] ?? 5_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
const behaviours = fc.infiniteStream(fc.constantFrom('works', 'works', 'works', 'fails', 'hangs'))

const table = createSoakTable()
useFakeTime()

describe(`${numRuns} interleavings with seed ${seed}`, () => {
  it.each<[string, () => fc.IAsyncProperty<unknown>]>([
    ['of one provider', () => fc.asyncProperty(plan, (plan) => play(plan))],
    [
      'of three that share a store',
      () => fc.asyncProperty(plan, (plan) => play(plan, createMemoryTokenStore())),
    ],
    [
      'of three that share a store which fails and hangs',
      () => fc.asyncProperty(plan, behaviours, (plan, behaviours) => play(plan, flakyStore(behaviours))),
    ],
  ])('%s', async (what, property) => {
    await table.measure(`interleavings ${what}, seed ${seed}`, async () => {
      await fc.assert(property(), { numRuns, seed })
      return { calls: numRuns, failures: 0 }
    })
  })
})

it('reads a million random responses as token responses or TokenErrors', async () => {
  await table.measure('random responses', async () => {
    let worstMs = 0
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        worstMs = Math.max(worstMs, checkResponse(randomResponse(seed)))
      }),
      { numRuns: 1_000_000 },
    )
    return { calls: 1_000_000, failures: 0, worstMs }
  })
})

it(`no token is used after its lifetime, and none is lost, whatever 100,000 responses say (seed ${seed})`, async () => {
  vi.useRealTimers()
  await table.measure(`lifetimes of random responses, seed ${seed}`, async () => {
    let responses = 0
    for (let run = 0; responses < 100_000; run++) responses += await playLifetimes(seed + run, 100)
    return { calls: responses, failures: 0 }
  })
})

it('a pool of 100 entries fails no call for 100,000 keys, with rejections, deletes and asynchronous creates', async () => {
  vi.useRealTimers()
  await table.measure('a pool for 100,000 keys', () => playPool(100_000))
})
