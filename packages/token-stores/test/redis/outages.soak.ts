import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import type { Order } from './fleet-member.ts'
import { requestsFor, sum, rowOf, startFleet, type Fleet } from './fleet.ts'
import { moveSlot, cluster, oneServer, sentinel } from './redis-forms.ts'
import { median, startSlowEndpoint, startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

const table = createSoakTable()

/** All processes execute the order; its row in the table. */
async function execute(fleet: Fleet, endpoint: TokenEndpoint, order: Order) {
  const result = sum(await Promise.all(fleet.members.map((member) => member.execute(order))))
  return {
    ...result,
    failures: result.failures.length,
    worstMs: result.longestMs,
    tokenRequests: requestsFor(endpoint, order.scope).length,
  }
}

describe.skipIf(!redisInstalled).each([
  ['one server', oneServer],
  ['a cluster', cluster],
  ['a sentinel', sentinel],
])('8 processes that share %s', (name, start) => {
  it(
    'fail no call while the token endpoint is slow, and share its failures',
    { timeout: 120_000 },
    async () => {
      await using servers = await start()
      await using endpoint = await startSlowEndpoint()
      await using fleet = await startFleet(8, () => ({
        redis: servers.redis,
        tokenEndpoint: endpoint.tokenEndpoint,
      }))
      await execute(fleet, endpoint, { scope: 'warm-up', calls: 1 })
      const run = (order: Order) =>
        table.measure(`${order.scope}, 8 processes, ${name}`, () => execute(fleet, endpoint, order))

      const [slow, lessSlow, failing, throttled] = await Promise.all([
        run({ scope: 'takes 3000 ms', calls: 25, timeoutMs: 5_000 }),
        run({ scope: 'takes 2200 ms', calls: 25, timeoutMs: 4_000 }),
        run({ scope: 'responds 503', perSecond: 10, forMs: 30_000 }),
        run({ scope: 'responds 429 for 20 s', calls: 25 }),
      ])
      expect([slow.failures, lessSlow.failures, throttled.failures]).toEqual([0, 0, 0])
      expect(slow.tokenRequests).toBeLessThanOrEqual(3)
      expect(lessSlow.tokenRequests).toBeLessThanOrEqual(3)
      expect(failing.tokenRequests).toBeLessThanOrEqual(12)
      expect(failing.failures).toBe(failing.calls)
      // Three attempts take 0.8 s on average.
      expect(median(failing.waits)).toBeLessThan(1_600)
      const requests = requestsFor(endpoint, 'responds 429 for 20 s')
      const early = requests.filter(({ receivedAt }) => receivedAt < requests[0]!.receivedAt + 19_900)
      expect(new Set(early.map(({ member }) => member)).size).toBeLessThanOrEqual(3)
    },
  )
})

describe.skipIf(!redisInstalled)('16 processes', () => {
  it(
    'wait for a holder that hangs no longer than for one attempt and one request',
    { timeout: 120_000 },
    async () => {
      await using servers = await oneServer()
      let fleet: Fleet | undefined
      let onFrozen: (member: number) => void
      let isFrozen = false
      const frozen = new Promise<number>((resolve) => (onFrozen = resolve))
      await using endpoint = await startTokenEndpoint({
        lifetimeMs: 3_600_000,
        async beforeResponse({ scope, member }) {
          if (scope !== 'hangs' || isFrozen) return setTimeout(50, true)
          isFrozen = true
          fleet!.members[member]!.freeze(true)
          onFrozen(member)
          return true
        },
      })
      await using started = await startFleet(16, () => ({
        redis: servers.redis,
        tokenEndpoint: endpoint.tokenEndpoint,
      }))
      fleet = started
      await execute(started, endpoint, { scope: 'warm-up', calls: 1 })
      const orders = started.members.map((member) => member.execute({ scope: 'hangs', calls: 20 }))
      const holder = await frozen
      const row = await table.measure('the holder hangs, 16 processes', async () => {
        const others = sum(await Promise.all(orders.filter((_, member) => member !== holder)))
        const tokenRequests = requestsFor(endpoint, 'hangs').length
        return { ...others, failures: others.failures.length, worstMs: others.longestMs, tokenRequests }
      })
      started.members[holder]!.freeze(false)
      expect((await orders[holder]!).failures).toEqual([])
      expect(row.failures).toBe(0)
      expect(row.worstMs).toBeLessThan(10_000 + 500)
      expect(row.tokenRequests).toBeLessThanOrEqual(3)
    },
  )
})

describe.skipIf(!redisInstalled)('a slot of a cluster that moves under load', () => {
  it('causes one token request for each refresh', { timeout: 120_000 }, async () => {
    await using servers = await cluster()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
    await using fleet = await startFleet(4, (member) => ({
      redis: { ...servers.redis, client: member % 2 ? 'ioredis' : 'redis' },
      tokenEndpoint: endpoint.tokenEndpoint,
    }))
    await execute(fleet, endpoint, { scope: 'moves', calls: 1 })
    const forMs = 30_000
    let moves = 0
    const moving = (async () => {
      const until = performance.now() + forMs
      while (performance.now() < until) {
        await moveSlot(servers.redis.ports, 1_000)
        moves++
      }
    })()
    const row = await table.measure('a slot moves, 4 processes', () =>
      execute(fleet, endpoint, { scope: 'moves', perSecond: 50, forMs }),
    )
    await moving
    expect(row).toMatchObject({ failures: 0, expired: 0 })
    expect(moves).toBeGreaterThan(5)
    // A token of 3 s is refreshed after 2.34 s at the earliest.
    expect(row.tokenRequests).toBeLessThanOrEqual(1 + Math.ceil(forMs / 2_340))
  })
})

describe.skipIf(!redisInstalled)('a fleet whose Redis is stopped', () => {
  it('fails no call while Redis is killed and started again every 2 s, under 500 calls a second', async () => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
    await using fleet = await startFleet(4, () => ({
      redis: { form: 'server', ports: [redis.port] },
      tokenEndpoint: endpoint.tokenEndpoint,
    }))
    const order = { scope: 'restarts', perSecond: 125, forMs: 30_000 }
    await table.measure('Redis restarted 15 times, 4 processes', async () => {
      const load = Promise.all(fleet.members.map((member) => member.execute(order)))
      for (let restart = 0; restart < 15; restart++) {
        await setTimeout(1_500)
        await redis.kill()
        await setTimeout(500)
        await redis.start()
      }
      const result = sum(await load)
      expect(result).toMatchObject({ failures: [], expired: 0 })
      return rowOf(result, endpoint)
    })
  })

  it.each(['redis', 'ioredis'] as const)(
    'fails no call of %s while Redis is stopped for 5 s, under 500 calls a second',
    async (client) => {
      await using redis = await startRedis()
      await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_000 })
      await using fleet = await startFleet(4, () => ({
        redis: { client, form: 'server', ports: [redis.port] },
        tokenEndpoint: endpoint.tokenEndpoint,
      }))
      for (const stop of ['kill', 'freeze'] as const) {
        const order = { scope: stop, perSecond: 125, forMs: 12_000 }
        await table.measure(`Redis stopped for 5 s (${stop}), 4 processes with ${client}`, async () => {
          const before = endpoint.requests.length
          const load = Promise.all(fleet.members.map((member) => member.execute(order)))
          await setTimeout(3_000)
          await (stop === 'kill' ? redis.kill() : redis.freeze(true))
          await setTimeout(5_000)
          await (stop === 'kill' ? redis.start() : redis.freeze(false))
          const result = sum(await load)
          expect(result).toMatchObject({ failures: [], expired: 0 })
          return { ...rowOf(result, endpoint), tokenRequests: endpoint.requests.length - before }
        })
      }
    },
  )
})
