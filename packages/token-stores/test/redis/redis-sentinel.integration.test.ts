import { setTimeout } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisInstalled } from '@tokenwell/internal-testing/redis'
import { startRedisSentinel, type RedisSentinelServers } from '@tokenwell/internal-testing/redis-sentinel'
import { describeClient, expectUsable, openIoRedis, openNodeRedis } from './describe-client.ts'
import { callColdFleet, report, requestsFor, sum, startFleet } from './fleet.ts'
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

  describeClient(
    'ioredis 6',
    () => {
      const { name, sentinelRootNodes: sentinels } = options()
      return openIoRedis(new Redis({ name, sentinels, lazyConnect: true }))
    },
    { encryptionKeys },
  )

  it('works with redis 6', async () => {
    await expectUsable(await openNodeRedis(createSentinel(options())))
  })

  it('works with redis 5', async () => {
    await expectUsable(await openNodeRedis(createSentinel5(options())))
  })

  it('shares one token request between processes and fails no caller during a failover', async () => {
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 60_000 })
    await using fleet = await startFleet(3, () => ({
      redis: { form: 'sentinel', ports: [servers.sentinel.port] },
      tokenEndpoint: endpoint.tokenEndpoint,
      encryptionKeys,
    }))
    const { scope, result } = await callColdFleet(fleet, endpoint, 250)
    report('a sentinel', { coldMs: result.longestMs })
    const load = fleet.members.map((member) => member.execute({ scope, perSecond: 50, forMs: 4_000 }))
    await setTimeout(200)
    await servers.master.kill()
    const failover = sum(await Promise.all(load))
    report('failover', {
      ...failover,
      tokens: failover.tokens.length,
      requests: requestsFor(endpoint, scope).length,
    })
    expect(failover).toMatchObject({ failures: [], expired: 0 })
    // Until the new master is in use, each process requests its own token.
    for (let requests = 0; requests !== 1;) {
      const after = crypto.randomUUID()
      await Promise.all(fleet.members.map((member) => member.execute({ scope: after, calls: 1 })))
      requests = requestsFor(endpoint, after).length
    }
  })
})
