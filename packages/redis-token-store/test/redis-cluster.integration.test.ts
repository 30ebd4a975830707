import { createCluster } from 'redis'
import { createCluster as createCluster5 } from 'redis-5'
import { afterAll, beforeAll, describe } from 'vitest'
import { proveStore } from './prove-store.ts'
import { startRedisCluster, type RedisClusterServers } from './redis-cluster.ts'
import { redisInstalled } from './redis-server.ts'

describe.skipIf(!redisInstalled)('a cluster of three', () => {
  let cluster: RedisClusterServers
  beforeAll(async () => {
    cluster = await startRedisCluster()
  })
  afterAll(() => cluster[Symbol.asyncDispose]())
  const rootNodes = () => cluster.nodes.map(({ url }) => ({ url }))

  proveStore('redis 6', () => createCluster({ rootNodes: rootNodes() }))
  proveStore('redis 5, encrypted', () => createCluster5({ rootNodes: rootNodes() }), {
    encryptionKeys: [crypto.getRandomValues(new Uint8Array(32))],
  })
})
