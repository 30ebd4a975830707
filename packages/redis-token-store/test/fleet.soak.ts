import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startRedisCluster } from '@tokenwell/internal-testing/redis-cluster'
import { startFleet, type Fleet } from './fleet.ts'
import { callColdFleet, killHolder, renewUnderLoad, report, together } from './fleet-scenarios.ts'
import type { MemberSettings } from './fleet-member.ts'
import { startRedisSentinel } from '@tokenwell/internal-testing/redis-sentinel'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { startTokenEndpoint } from './token-endpoint.ts'

const hour = 3_600_000

interface Servers extends AsyncDisposable {
  readonly redis: MemberSettings['redis']
}

async function oneServer(): Promise<Servers> {
  const server = await startRedis()
  return {
    redis: { form: 'server', ports: [server.port] },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function cluster(): Promise<Servers> {
  const servers = await startRedisCluster()
  return {
    redis: { form: 'cluster', ports: servers.nodes.map(({ port }) => port) },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  }
}

async function sentinel(): Promise<Servers> {
  const servers = await startRedisSentinel()
  return {
    redis: { form: 'sentinel', ports: [servers.sentinel.port] },
    [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose](),
  }
}

describe.skipIf(!redisInstalled)('long runs', () => {
  it.each([
    ['one server', oneServer, 0],
    ['one server, clocks an hour apart', oneServer, hour],
    ['a cluster', cluster, 0],
    ['a sentinel', sentinel, 0],
  ])('60 s of 3 s tokens on %s: one request a renewal, and nobody waits', async (name, start, apartMs) => {
    await using servers = await start()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
    await using fleet = await startFleet(8, (member) => ({
      redis: servers.redis,
      tokenUrl: endpoint.tokenUrl,
      skewMs: ((member % 3) - 1) * apartMs,
    }))
    const { scope } = await callColdFleet(fleet, endpoint, 1_000)
    const { result, gaps } = await renewUnderLoad(
      fleet,
      endpoint,
      { scope, perSecond: 50, forMs: 60_000 },
      2_000,
    )
    report(`60 s, ${name}`, {
      keptUp: fleet.keptUp(),
      ...result,
      tokens: result.tokens.length,
      renewals: gaps.length,
      soonestMs: Math.min(...gaps),
      latestMs: Math.max(...gaps),
    })
  })

  it.each([
    ['one server', oneServer, 50],
    ['a cluster', cluster, 10],
    ['a sentinel', sentinel, 10],
  ])('holders killed in the middle of their requests, on %s', async (name, start, kills) => {
    await using servers = await start()
    const victims = new Set<string>()
    let fleet: Fleet | undefined
    await using endpoint = await startTokenEndpoint({
      lifetimeMs: 3_000,
      async beforeAnswer({ scope, member }) {
        if (!victims.delete(scope)) return setTimeout(50, true)
        await fleet!.members[member]!.kill()
        return false
      },
    })
    await using started = await startFleet(4, () => ({ redis: servers.redis, tokenUrl: endpoint.tokenUrl }))
    fleet = started
    const waits: number[] = []
    for (let kill = 0; kill < kills; kill++) {
      const result = await killHolder(fleet, { endpoint, victims }, kill % 2 ? 'renewal' : 'first')
      waits.push(result.longestMs)
    }
    report(`${kills} kills, ${name}`, {
      keptUp: fleet.keptUp(),
      longestMs: Math.max(...waits),
      shortestMs: Math.min(...waits),
    })
  })

  it('Redis killed and started again every 2 s for 30 s, under 500 calls a second', async () => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
    await using fleet = await startFleet(4, () => ({
      redis: { form: 'server', ports: [redis.port] },
      tokenUrl: endpoint.tokenUrl,
    }))
    const order = { scope: 'restarts', perSecond: 125, forMs: 30_000 }
    const load = Promise.all(fleet.members.map((member) => member.obey(order)))
    let restarts = 0
    for (; restarts < 15; restarts++) {
      await setTimeout(1_500)
      await redis.kill()
      await setTimeout(500)
      await redis.start()
    }
    const result = together(await load)
    expect(result).toMatchObject({ failures: [], expired: 0 })
    report('Redis restarted', {
      ...result,
      tokens: result.tokens.length,
      restarts,
      requests: endpoint.requests.length,
    })
  })

  it('one spoofed invalid_client stops a fleet for 30 s, and costs one probe', async () => {
    await using redis = await startRedis()
    let spoofed = false
    await using endpoint = await startTokenEndpoint({
      lifetimeMs: 60_000,
      async beforeAnswer() {
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
    const result = together(await Promise.all(fleet.members.map((member) => member.obey(order))))
    const [refused, probe] = endpoint.requests
    report('one spoofed invalid_client', {
      calls: result.calls,
      failures: result.failures.length,
      requests: endpoint.requests.length,
      apartMs: probe!.receivedAt - refused!.receivedAt,
    })
    if (fleet.keptUp()) expect(endpoint.requests).toHaveLength(2)
    expect(probe!.receivedAt - refused!.receivedAt).toBeLessThan(31_000)
  })
})
