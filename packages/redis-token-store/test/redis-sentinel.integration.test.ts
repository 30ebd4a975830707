import { createSentinel } from 'redis'
import { createSentinel as createSentinel5 } from 'redis-5'
import { afterAll, beforeAll, describe } from 'vitest'
import { proveStore } from './prove-store.ts'
import { startRedisSentinel, type RedisSentinelServers } from './redis-sentinel.ts'
import { redisInstalled } from './redis-server.ts'

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

  proveStore('redis 6', () => createSentinel(options()))
  proveStore('redis 5, encrypted', () => createSentinel5(options()), {
    encryptionKeys: [crypto.getRandomValues(new Uint8Array(32))],
  })
})
