import { createRedisTokenStore, type RedisTokenStoreClient } from '@tokenwell/redis-token-store'
import { createClient, createClientPool, RESP_TYPES } from 'redis'
import { createClient as createClient5 } from 'redis-5'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { proveStore, useStore } from './prove-store.ts'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'

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

  it.each([
    ['redis 5', () => createClient5({ url: server.url })],
    ['a pool', () => createClientPool({ url: server.url })],
  ])('is used through %s', async (_, create) => {
    await useStore(create())
  })

  it('goes on with a client that repeats each command, as some do after a failover', async () => {
    const client = createClient({ url: server.url })
    await useStore({
      connect: () => client.connect(),
      destroy: () => client.destroy(),
      isOpen: true,
      withCommandOptions(options) {
        const commands = client.withCommandOptions(options)
        return {
          eval: (...call) => commands.eval(...call).then(() => commands.eval(...call)),
          evalSha: (...call) => commands.evalSha(...call).then(() => commands.evalSha(...call)),
        }
      },
    })
  })

  it.each([
    ['set back since the lease was taken', 3_600_000, undefined],
    ['right', 0, expect.any(String)],
    ['set forward past the end of a life', -3_600_000, undefined],
  ])('keeps what is written when Redis’s clock is %s: %s', async (_, aheadMs, kept) => {
    const client = await createClient({ url: server.url }).connect()
    const shifted: RedisTokenStoreClient = {
      isOpen: true,
      withCommandOptions(options) {
        const commands = client.withCommandOptions(options)
        // The third and fourth argument of a write are moments by Redis's clock, as it was at the lease.
        const shift = <Options extends { arguments: string[] }>(call: Options): Options => ({
          ...call,
          arguments: call.arguments.map((text, at) => (at < 2 ? text : String(Number(text) + aheadMs))),
        })
        return {
          eval: (script, call) => commands.eval(script, shift(call)),
          evalSha: (sha1, call) => commands.evalSha(sha1, shift(call)),
        }
      },
    }
    const lease = await createRedisTokenStore({ client: shifted }).lease(crypto.randomUUID(), 5_000)
    const response = { accessToken: 'token', tokenType: 'Bearer', scope: [] } as const
    expect(await lease!.write(response, 60_000)).toEqual(kept)
    client.destroy()
  })
})
