import { expect, it } from 'vitest'
import { runSteadyLoad } from './steady-load.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

it(
  'no request waits or fails under 200 requests a second with tokens of three seconds, for a minute',
  { timeout: 120_000 },
  async () => {
    const load = await table.measure('200 requests a second, tokens of 3 s', async () => {
      const load = await runSteadyLoad(60)
      const failures = load.rejected + load.failed
      return { ...load, failures, figures: `${load.waited} calls waited, ${load.tokens} tokens` }
    })
    expect(load).toMatchObject({ waited: 0, rejected: 0, failed: 0, mostTokenRequestsAtOnce: 1 })
    expect(load.calls).toBeGreaterThan(11_900)
    // A refresh every 2.34 to 2.46 s.
    expect(load.tokenRequests).toBeLessThanOrEqual(27)
    // The end of the minute may cut off a refresh.
    expect(load.tokenRequests - load.tokens).toBeOneOf([0, 1])
  },
)
