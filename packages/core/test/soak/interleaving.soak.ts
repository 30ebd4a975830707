import * as fc from 'fast-check'
import { describe, it } from 'vitest'
import { createMemoryTokenStore } from '@tokenwell/core'
import { useFakeTime } from '../fake-time.ts'
import { flakyStore } from '../token-provider/flaky-store.ts'
import { plan, play } from '../token-provider/interleaving.ts'

useFakeTime()

describe('50,000 interleavings each', () => {
  const numRuns = 50_000
  const timeout = 30 * 60_000

  it('of one provider', { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(plan, (plan) => play(plan)),
      { numRuns },
    )
  })

  it('of three that share a store', { timeout }, async () => {
    await fc.assert(
      fc.asyncProperty(plan, (plan) => play(plan, createMemoryTokenStore())),
      { numRuns },
    )
  })

  it('of three that share a store which fails and hangs', { timeout }, async () => {
    const moods = fc.infiniteStream(fc.constantFrom('well', 'well', 'well', 'failing', 'hanging'))
    await fc.assert(
      fc.asyncProperty(plan, moods, (plan, moods) => play(plan, flakyStore(moods))),
      { numRuns },
    )
  })
})
