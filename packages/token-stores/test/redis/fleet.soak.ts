import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import type { OrderResult } from './fleet-member.ts'
import { callColdFleet, refreshUnderLoad, rowOf, sum, killHolder, startFleet, type Fleet } from './fleet.ts'
import { cluster, oneServer, sentinel } from './redis-forms.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

const hour = 3_600_000
const table = createSoakTable()

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
        tokenEndpoint: endpoint.tokenEndpoint,
        skewMs: ((member % 3) - 1) * apartMs,
      }))
      await table.measure(`tokens of 3 s, 8 processes, ${name}`, async () => {
        const { scope } = await callColdFleet(fleet, endpoint, 1_000)
        const order = { scope, perSecond: 50, forMs: 30_000 }
        const { result, gaps } = await refreshUnderLoad(fleet, endpoint, order, 2_000)
        return rowOf(result, endpoint, `${Math.min(...gaps)} to ${Math.max(...gaps)} ms between requests`)
      })
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
      tokenEndpoint: endpoint.tokenEndpoint,
    }))
    const order = { scope: 'spoofed', perSecond: 20, forMs: 35_000 }
    await table.measure('one spoofed invalid_client, 4 processes', async () => {
      const result = sum(await Promise.all(fleet.members.map((member) => member.execute(order))))
      return rowOf(result, endpoint)
    })
    const [rejected, probe] = endpoint.requests
    expect({ keptUp: fleet.keptUp(), requests: endpoint.requests.length }).toEqual({
      keptUp: true,
      requests: 2,
    })
    expect(probe!.receivedAt - rejected!.receivedAt).toBeLessThan(31_000)
  })
})

describe.skipIf(!redisInstalled)('a fleet whose processes are killed', () => {
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
      await using started = await startFleet(4, () => ({
        redis: servers.redis,
        tokenEndpoint: endpoint.tokenEndpoint,
      }))
      fleet = started
      await table.measure(`${kills} holders killed, 4 processes, ${name}`, async () => {
        const results: OrderResult[] = []
        for (let kill = 0; kill < kills; kill++) {
          results.push(await killHolder(started, { endpoint, victims }, kill % 2 ? 'refresh' : 'first'))
        }
        return rowOf(sum(results), endpoint)
      })
    },
  )
})
