import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { callColdFleet, killHolder, refreshUnderLoad, report, startFleet, type Fleet } from './fleet.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

const hour = 3_600_000

describe.skipIf(!redisInstalled)('a fleet of 8 processes with clocks an hour apart', () => {
  let redis: RedisServer
  let endpoint: TokenEndpoint
  let fleet: Fleet
  const victims = new Set<string>()
  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await startTokenEndpoint({
      lifetimeMs: 6_000,
      async beforeResponse({ scope, member }) {
        if (!victims.delete(scope)) return setTimeout(50, true)
        await fleet.members[member]!.kill()
        return false
      },
    })
    fleet = await startFleet(8, (member) => ({
      redis: { form: 'server', ports: [redis.port] },
      tokenEndpoint: endpoint.tokenEndpoint,
      refreshAheadMs: 3_000,
      skewMs: ((member % 3) - 1) * hour,
    }))
  })
  afterAll(async () => {
    await fleet?.[Symbol.asyncDispose]()
    await endpoint?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })

  it('shares one token request between 8 × 1,000 first calls and one per refresh, which no caller waits for', async () => {
    const { keptUp, scope, requests, result } = await callColdFleet(fleet, endpoint, 1_000)
    report('8 × 1,000 first calls', {
      keptUp,
      requests,
      longestMs: result.longestMs,
      events: result.events,
    })
    const run = await refreshUnderLoad(fleet, endpoint, { scope, perSecond: 50, forMs: 4_000 }, 2_000)
    report('4 s of 6 s tokens', { ...run.result, tokens: run.result.tokens.length, gaps: run.gaps })
  })

  it('gets one token after the process that requested it is killed', async () => {
    const { calls, longestMs, events } = await killHolder(fleet, { endpoint, victims }, 'first')
    report('holder killed', { calls, longestMs, events })
  })
})
