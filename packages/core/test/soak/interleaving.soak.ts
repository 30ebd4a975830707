import * as fc from 'fast-check'
import { createMemoryTokenStore } from '@tokenwell/core'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { describe, it } from 'vitest'
import { useFakeTime } from '../support/fake-time.ts'
import { flakyStore } from '../provider/flaky-store.ts'
import { plan, play } from '../provider/interleaving.ts'

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
