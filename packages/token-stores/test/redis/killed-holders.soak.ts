import { setTimeout } from 'node:timers/promises'
import { redisInstalled } from '@tokenwell/internal-testing/redis'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { describe, it } from 'vitest'
import { startFleet, type Fleet } from './fleet.ts'
import type { OrderResult } from './fleet-member.ts'
import { killHolder, rowOf, sum } from './fleet-scenarios.ts'
import { cluster, oneServer, sentinel } from './redis-forms.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

const table = createSoakTable()

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
