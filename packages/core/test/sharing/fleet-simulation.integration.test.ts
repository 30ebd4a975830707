import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { FleetResult, FleetScenario } from './simulated-fleet.ts'

/** In a process of its own, because it replaces the timers of its process. */
async function simulate(scenario: FleetScenario): Promise<Record<'alone' | 'shared', FleetResult>> {
  const program = fileURLToPath(new URL('simulated-fleet.ts', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@tokenwell/source',
    '--disable-warning=ExperimentalWarning',
    program,
    '300',
    scenario,
  ])
  return JSON.parse(stdout) as Record<'alone' | 'shared', FleetResult>
}

describe('a simulated fleet of 300 processes that share a store', () => {
  it.each<[FleetScenario, number]>([
    ['all is well', 1],
    ['all is well, for two lifetimes', 2],
    ['the endpoint takes 50 ms', 1],
    ['the endpoint takes 200 ms', 1],
  ])('needs at most six operations per process and lifetime: %s', async (scenario, lifetimes) => {
    const { alone, shared } = await simulate(scenario)
    expect(shared).toMatchObject({ tokenRequests: lifetimes, failedCalls: 0 })
    expect(shared.operations / lifetimes).toBeLessThanOrEqual(6)
    expect(shared.longestWaitMs).toBeLessThan(2 * alone.longestWaitMs + 50)
  })

  it.each<[FleetScenario, number]>([
    ['the store fails', 25],
    ['the store hangs', 250],
    ['the store takes 300 ms', 250],
    ['the store hangs after 10 ms', 500],
    ['the store takes 150 ms', 750],
    ['the first request fails', 2_000],
    ['the first request hangs', 2_500],
    ['the endpoint takes 1 s', 750],
    ['the endpoint takes 3 s', 1_500],
    ['the endpoint is down for 2 s', 2_500],
  ])(
    'fails no call, and gets its tokens at most so much later than without it: %s, %d ms',
    async (scenario, laterMs) => {
      const { alone, shared } = await simulate(scenario)
      expect(shared.failedCalls).toBe(0)
      expect(shared.longestWaitMs - alone.longestWaitMs).toBeLessThanOrEqual(laterMs)
      expect(shared.tokenRequests).toBeLessThanOrEqual(alone.tokenRequests)
    },
  )

  it('recovers with the endpoint, to which it sends few requests meanwhile', async () => {
    const { shared } = await simulate('the endpoint is down for 20 s')
    expect(shared.tokenRequests).toBeLessThan(30)
    expect(shared.longestWaitMs).toBeLessThan(35_000)
  })
})
