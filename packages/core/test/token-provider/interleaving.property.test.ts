import * as fc from 'fast-check'
import { describe, it } from 'vitest'
import { createMemoryTokenStore } from '@tokenwell/core'
import { useFakeTime } from '../fake-time.ts'
import { plan, play } from './interleaving.ts'
import { flakyStore } from './flaky-store.ts'

useFakeTime()

// The same runs each time; `pnpm soak` makes others, and many more.
const seed = 20_261_121

describe('any interleaving of calls, rejections, aborts, time and failures', () => {
  it('keeps to one flight, to living tokens, and to each caller', async () => {
    await fc.assert(
      fc.asyncProperty(plan, (plan) => play(plan)),
      { numRuns: 400, seed },
    )
  }, 60_000)

  it('does so for providers that share a store', async () => {
    await fc.assert(
      fc.asyncProperty(plan, (plan) => play(plan, createMemoryTokenStore())),
      { numRuns: 100, seed },
    )
  }, 60_000)

  it('does so where that store fails and hangs now and then', async () => {
    const moods = fc.infiniteStream(fc.constantFrom('well', 'well', 'well', 'failing', 'hanging'))
    await fc.assert(
      fc.asyncProperty(plan, moods, (plan, moods) => play(plan, flakyStore(moods))),
      { numRuns: 100, seed },
    )
  }, 60_000)
})
