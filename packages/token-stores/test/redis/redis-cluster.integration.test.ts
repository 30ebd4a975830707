import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { createCluster as createCluster5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { redisInstalled } from '@tokenwell/internal-testing/redis'
import { startRedisCluster, type RedisClusterServers } from '@tokenwell/internal-testing/redis-cluster'
import { describeClient, expectUsable, openIoRedis, openNodeRedis } from './describe-client.ts'
import { callColdFleet, report, sum, startFleet } from './fleet.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

describe.skipIf(!redisInstalled)('a cluster of three nodes', () => {
  let cluster: RedisClusterServers
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster[Symbol.asyncDispose]())
  const urls = () => cluster.nodes.map(({ url }) => url)
  const rootNodes = () => urls().map((url) => ({ url }))
  const encryptionKeys = [Buffer.alloc(32, 1).toString('base64')]

  describeClient('redis 6', () => openNodeRedis(createCluster({ rootNodes: rootNodes() })), {
    encryptionKeys,
  })
  it('works with ioredis 6', async () => {
    const options = { lazyConnect: true, redisOptions: { lazyConnect: true } }
    await expectUsable(await openIoRedis(new Cluster(urls(), options)))
  })

  it('works with redis 5', async () => {
    await expectUsable(await openNodeRedis(createCluster5({ rootNodes: rootNodes() })))
  })

  it('shares one token request between processes and fails no caller when a node dies', async () => {
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 60_000 })
    await using fleet = await startFleet(3, () => ({
      redis: { form: 'cluster', ports: cluster.nodes.map(({ port }) => port) },
      tokenEndpoint: endpoint.tokenEndpoint,
      encryptionKeys,
    }))
    const { result } = await callColdFleet(fleet, endpoint, 250)
    report('a cluster', { coldMs: result.longestMs })
    // Several scopes, so that some are stored on the node that dies.
    const load = fleet.members.flatMap((member) =>
      Array.from({ length: 6 }, (_, part) =>
        member.execute({ scope: `part ${part}`, perSecond: 20, forMs: 2_000 }),
      ),
    )
    await cluster.nodes[2]!.kill()
    const dying = sum(await Promise.all(load))
    await cluster.nodes[2]!.start()
    report('a node dies', { ...dying, tokens: dying.tokens.length })
    expect(dying).toMatchObject({ failures: [], expired: 0 })
  })
})
