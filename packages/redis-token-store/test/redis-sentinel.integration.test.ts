import { setTimeout } from 'node:timers/promises'
import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFleet } from './fleet.ts'
import { callColdFleet, renewUnderLoad, report, requestsFor, together } from './fleet-scenarios.ts'
import { proveStore, useStore } from './prove-store.ts'
import { startRedisSentinel, type RedisSentinelServers } from '@tokenwell/internal-testing/redis-sentinel'
import { redisInstalled } from '@tokenwell/internal-testing/redis'
import { startTokenEndpoint } from './token-endpoint.ts'

describe.skipIf(!redisInstalled)('a master behind a sentinel', () => {
  let servers: RedisSentinelServers
  beforeAll(async () => {
    servers = await startRedisSentinel()
  })
  afterAll(() => servers[Symbol.asyncDispose]())
  const options = () => ({
    name: 'main',
    sentinelRootNodes: [{ host: '127.0.0.1', port: servers.sentinel.port }],
  })
  const encryptionKeys = [Buffer.alloc(32, 1).toString('base64')]

  proveStore('redis 6', () => createSentinel(options()), { encryptionKeys })

  it('is used through redis 5', async () => {
    await useStore(createSentinel5(options()))
  })

  it('has a fleet ask once, and loses no caller when its replica takes over', async () => {
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 6_000 })
    await using fleet = await startFleet(3, () => ({
      redis: { form: 'sentinel', ports: [servers.sentinel.port] },
      tokenUrl: endpoint.tokenUrl,
      refreshAheadMs: 3_000,
      encryptionKeys,
    }))
    const { scope, result } = await callColdFleet(fleet, endpoint, 250)
    const run = await renewUnderLoad(fleet, endpoint, { scope, perSecond: 50, forMs: 3_800 }, 2_000)
    report('a sentinel', {
      coldMs: result.longestMs,
      ...run.result,
      tokens: run.result.tokens.length,
      gaps: run.gaps,
    })
    const load = fleet.members.map((member) => member.obey({ scope, perSecond: 50, forMs: 5_000 }))
    await setTimeout(200)
    await servers.master.kill()
    const failover = together(await Promise.all(load))
    report('failover', {
      ...failover,
      tokens: failover.tokens.length,
      requests: requestsFor(endpoint, scope).length,
    })
    expect(failover).toMatchObject({ failures: [], expired: 0 })
    // Until the new master is in use, each process asks for itself.
    for (let asked = 0; asked !== 1;) {
      const after = crypto.randomUUID()
      await Promise.all(fleet.members.map((member) => member.obey({ scope: after, calls: 1 })))
      asked = requestsFor(endpoint, after).length
    }
  })
})
