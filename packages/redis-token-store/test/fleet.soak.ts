import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startFleet, type Fleet } from './fleet.ts'
import { callColdFleet, killHolder, refreshUnderLoad, report, sum } from './fleet-scenarios.ts'
import { cluster, oneServer, sentinel } from './redis-forms.ts'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { startTokenEndpoint } from './token-endpoint.ts'

const hour = 3_600_000

describe.skipIf(!redisInstalled)('a fleet over a long time', () => {
  it.each([
    ['one server', oneServer, 0],
    ['one server, clocks an hour apart', oneServer, hour],
    ['a cluster', cluster, 0],
    ['a sentinel', sentinel, 0],
  ])(
    'makes one request per refresh in 30 s of 3 s tokens with %s, and no caller waits',
    async (name, start, apartMs) => {
      await using servers = await start()
      await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
      await using fleet = await startFleet(8, (member) => ({
        redis: servers.redis,
        tokenUrl: endpoint.tokenUrl,
        skewMs: ((member % 3) - 1) * apartMs,
      }))
      const { scope } = await callColdFleet(fleet, endpoint, 1_000)
      const { result, gaps } = await refreshUnderLoad(
        fleet,
        endpoint,
        { scope, perSecond: 50, forMs: 30_000 },
        2_000,
      )
      report(`30 s, ${name}`, {
        keptUp: fleet.keptUp(),
        ...result,
        tokens: result.tokens.length,
        refreshes: gaps.length,
        shortestGapMs: Math.min(...gaps),
        longestGapMs: Math.max(...gaps),
      })
    },
  )

  it.each([
    ['one server', oneServer, 10],
    ['a cluster', cluster, 4],
    ['a sentinel', sentinel, 4],
  ])(
    'gets one token whenever the process that requests it is killed, with %s',
    async (name, start, kills) => {
      await using servers = await start()
      const victims = new Set<string>()
      let fleet: Fleet | undefined
      await using endpoint = await startTokenEndpoint({
        lifetimeMs: 3_000,
        async beforeResponse({ scope, member }) {
          if (!victims.delete(scope)) return setTimeout(50, true)
          await fleet!.members[member]!.kill()
          return false
        },
      })
      await using started = await startFleet(4, () => ({ redis: servers.redis, tokenUrl: endpoint.tokenUrl }))
      fleet = started
      const waits: number[] = []
      for (let kill = 0; kill < kills; kill++) {
        const result = await killHolder(fleet, { endpoint, victims }, kill % 2 ? 'refresh' : 'first')
        waits.push(result.longestMs)
      }
      report(`${kills} kills, ${name}`, {
        keptUp: fleet.keptUp(),
        longestMs: Math.max(...waits),
        shortestMs: Math.min(...waits),
      })
    },
  )

  it('fails no call while Redis is killed and started again every 2 s, under 500 calls a second', async () => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
    await using fleet = await startFleet(4, () => ({
      redis: { form: 'server', ports: [redis.port] },
      tokenUrl: endpoint.tokenUrl,
    }))
    const order = { scope: 'restarts', perSecond: 125, forMs: 30_000 }
    const load = Promise.all(fleet.members.map((member) => member.execute(order)))
    let restarts = 0
    for (; restarts < 15; restarts++) {
      await setTimeout(1_500)
      await redis.kill()
      await setTimeout(500)
      await redis.start()
    }
    const result = sum(await load)
    expect(result).toMatchObject({ failures: [], expired: 0 })
    report('Redis restarted', {
      ...result,
      tokens: result.tokens.length,
      restarts,
      requests: endpoint.requests.length,
    })
  })

  it.each(['redis', 'ioredis'] as const)(
    'fails no call of %s while Redis is stopped for 5 s, under 500 calls a second',
    async (client) => {
      await using redis = await startRedis()
      await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
      await using fleet = await startFleet(4, () => ({
        redis: { client, form: 'server', ports: [redis.port] },
        tokenUrl: endpoint.tokenUrl,
      }))
      for (const stop of ['kill', 'freeze'] as const) {
        const order = { scope: stop, perSecond: 125, forMs: 12_000 }
        const load = Promise.all(fleet.members.map((member) => member.execute(order)))
        await setTimeout(3_000)
        await (stop === 'kill' ? redis.kill() : redis.freeze(true))
        await setTimeout(5_000)
        await (stop === 'kill' ? redis.start() : redis.freeze(false))
        const result = sum(await load)
        expect(result).toMatchObject({ failures: [], expired: 0 })
        report(`Redis stopped (${stop}), ${client}`, { ...result, tokens: result.tokens.length })
      }
    },
  )

  it('makes one attempt 30 s after a spoofed invalid_client', async () => {
    await using redis = await startRedis()
    let spoofed = false
    await using endpoint = await startTokenEndpoint({
      lifetimeMs: 60_000,
      async beforeResponse() {
        if (spoofed) return true
        spoofed = true
        return 'invalid_client'
      },
    })
    await using fleet = await startFleet(4, () => ({
      redis: { form: 'server', ports: [redis.port] },
      tokenUrl: endpoint.tokenUrl,
    }))
    const order = { scope: 'spoofed', perSecond: 20, forMs: 35_000 }
    const result = sum(await Promise.all(fleet.members.map((member) => member.execute(order))))
    const [rejected, probe] = endpoint.requests
    report('one spoofed invalid_client', {
      calls: result.calls,
      failures: result.failures.length,
      requests: endpoint.requests.length,
      apartMs: probe!.receivedAt - rejected!.receivedAt,
    })
    if (fleet.keptUp()) expect(endpoint.requests).toHaveLength(2)
    expect(probe!.receivedAt - rejected!.receivedAt).toBeLessThan(31_000)
  })
})
