import * as fc from 'fast-check'
import { describe, it } from 'vitest'
import { createMemoryTokenStore } from '@tokenwell/core'
import { useFakeTime } from '../support/fake-time.ts'
import { plan, play, flakyStore } from './interleaving.ts'

useFakeTime()

// The same runs each time; `pnpm soak` runs many more, with random seeds.
const seed = 20_261_121

describe('any interleaving of calls, rejections, aborts, time and failures', () => {
  it('makes one request at a time and returns a valid token to each caller', async () => {
    await fc.assert(
      fc.asyncProperty(plan, (plan) => play(plan)),
      { numRuns: 400, seed },
    )
  })

  it('does so with providers that share a store', async () => {
    await fc.assert(
      fc.asyncProperty(plan, (plan) => play(plan, createMemoryTokenStore())),
      { numRuns: 100, seed },
    )
  })

  it('does so with a store that sometimes fails or hangs', async () => {
    const behaviours = fc.infiniteStream(fc.constantFrom('works', 'works', 'works', 'fails', 'hangs'))
    await fc.assert(
      fc.asyncProperty(plan, behaviours, (plan, behaviours) => play(plan, flakyStore(behaviours))),
      { numRuns: 100, seed },
    )
  })
})
