import { createCluster } from 'redis'
import { createCluster as createCluster5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFleet } from './fleet.ts'
import { callColdFleet, renewUnderLoad, report, together } from './fleet-scenarios.ts'
import { proveStore, useStore } from './prove-store.ts'
import { startRedisCluster, type RedisClusterServers } from '@tokenwell/internal-testing/redis-cluster'
import { redisInstalled } from '@tokenwell/internal-testing/redis'
import { startTokenEndpoint } from './token-endpoint.ts'

describe.skipIf(!redisInstalled)('a cluster of three', () => {
  let cluster: RedisClusterServers
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster[Symbol.asyncDispose]())
  const rootNodes = () => cluster.nodes.map(({ url }) => ({ url }))
  const encryptionKeys = [Buffer.alloc(32, 1).toString('base64')]

  proveStore('redis 6', () => createCluster({ rootNodes: rootNodes() }), { encryptionKeys })

  it('is used through redis 5', async () => {
    await useStore(createCluster5({ rootNodes: rootNodes() }))
  })

  it('has a fleet ask once, and loses no caller with one of its nodes', async () => {
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 6_000 })
    await using fleet = await startFleet(3, () => ({
      redis: { form: 'cluster', ports: cluster.nodes.map(({ port }) => port) },
      tokenUrl: endpoint.tokenUrl,
      refreshAheadMs: 3_000,
      encryptionKeys,
    }))
    const { scope, result } = await callColdFleet(fleet, endpoint, 250)
    const run = await renewUnderLoad(fleet, endpoint, { scope, perSecond: 50, forMs: 3_800 }, 2_000)
    report('a cluster', {
      coldMs: result.longestMs,
      ...run.result,
      tokens: run.result.tokens.length,
      gaps: run.gaps,
    })
    // One scope for each part of the key space, so that some live on the node that dies.
    const load = fleet.members.flatMap((member) =>
      Array.from({ length: 6 }, (_, part) =>
        member.obey({ scope: `part ${part}`, perSecond: 20, forMs: 2_000 }),
      ),
    )
    await cluster.nodes[2]!.kill()
    const dying = together(await Promise.all(load))
    await cluster.nodes[2]!.start()
    report('a node dies', { ...dying, tokens: dying.tokens.length })
    expect(dying).toMatchObject({ failures: [], expired: 0 })
  })
})
