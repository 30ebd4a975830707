import { setTimeout } from 'node:timers/promises'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { describe, expect, it } from 'vitest'
import { startFleet } from './fleet.ts'
import { rowOf, sum } from './fleet-scenarios.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

const table = createSoakTable()

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
