import { expect, it } from 'vitest'
import { runSteadyLoad } from './steady-load.ts'

it('200 requests a second over a token of three seconds: none refused, one token request a renewal', async () => {
  const load = await runSteadyLoad(6)
  expect(load).toMatchObject({ refused: 0, failed: 0, mostTokenRequestsAtOnce: 1 })
  expect(load.calls).toBeGreaterThan(1_000)
  // A renewal every 2.34 to 2.46 s, or a little later where this machine was busy.
  expect(load.tokenRequests).toBeGreaterThanOrEqual(2)
  expect(load.tokenRequests).toBeLessThanOrEqual(4)
})
