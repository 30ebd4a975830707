import { createClient, RESP_TYPES } from 'redis'
import { createClient as createClient5 } from 'redis-5'
import { afterAll, beforeAll, describe } from 'vitest'
import { proveStore } from './prove-store.ts'
import { redisInstalled, startRedis, type RedisServer } from './redis-server.ts'

describe.skipIf(!redisInstalled)('one server', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server[Symbol.asyncDispose]())

  proveStore('redis 6', () => createClient({ url: server.url }))
  proveStore(
    'redis 6, encrypted, whose user wants bytes by RESP2',
    () => {
      const typeMapping = { [RESP_TYPES.BLOB_STRING]: Buffer }
      return createClient({ url: server.url, RESP: 2, commandOptions: { typeMapping } })
    },
    {
      encryptionKeys: [
        crypto.getRandomValues(new Uint8Array(32)),
        crypto.getRandomValues(new Uint8Array(32)),
      ],
    },
  )
  proveStore('redis 5', () => createClient5({ url: server.url }))
})
