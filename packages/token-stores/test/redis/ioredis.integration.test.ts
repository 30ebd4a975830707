import { setTimeout } from 'node:timers/promises'
import { createTokenProvider } from '@tokenwell/core'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import { Redis } from 'ioredis'
import { Redis as Redis5 } from 'ioredis-5'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeClient, expectUsable, openIoRedis } from './describe-client.ts'

describe.skipIf(!redisInstalled)('ioredis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  describeClient('ioredis 6', () => openIoRedis(new Redis(server.url, { lazyConnect: true })))
  it('works with ioredis 5', async () => {
    await expectUsable(await openIoRedis(new Redis5(server.url, { lazyConnect: true })))
  })

  it.each<[string, () => Redis | Redis5]>([
    ['ioredis 6', () => new Redis(server.url, { lazyConnect: true })],
    ['ioredis 5', () => new Redis5(server.url, { lazyConnect: true })],
  ])('connects a client of %s that waits for its first command', async (_version, create) => {
    const clients = Array.from({ length: 20 }, () => create())
    const stores = clients.map((client) => createRedisTokenStore({ client, keyPrefix: 'lazy:' }))
    expect(clients.map(({ status }) => status)).toStrictEqual(clients.map(() => 'wait'))
    const leases = await Promise.all(stores.map((store) => store.lease('a cache key', 5_000)))
    expect(leases.filter(Boolean)).toHaveLength(1)
    await leases.find(Boolean)!.release()
    for (const client of clients) client.disconnect()
  })

  it('reports that a client which waits for its first command cannot connect', async () => {
    const client = new Redis('redis://127.0.0.1:1', { lazyConnect: true, retryStrategy: () => null })
    client.on('error', () => {})
    const store = createRedisTokenStore({ client })
    await expect(store.read('a cache key')).rejects.toMatchObject({ code: 'not_connected' })
  })

  describe('a provider with a store in an unavailable Redis', () => {
    const servers = useTestServers()
    let client: Redis
    beforeEach(async () => {
      ;({ client } = await openIoRedis(new Redis(server.url, { lazyConnect: true })))
    })
    afterEach(() => client.disconnect())

    const open = () => {
      const failures: string[] = []
      const tokens = createTokenProvider(servers.endpoint.source, {
        store: createRedisTokenStore({ client, keyPrefix: `${crypto.randomUUID()}:` }),
        onEvent: (event) => {
          if (event.type === 'store_unavailable') failures.push(`${event.operation} ${event.cause}`)
        },
      })
      return { failures, tokens }
    }
    const timed = async (work: () => Promise<unknown>): Promise<number> => {
      const started = performance.now()
      await work()
      return performance.now() - started
    }

    it('loses no time while the client is not connected', async () => {
      await server.kill()
      await expect.poll(() => client.status).not.toBe('ready')
      const { failures, tokens } = open()
      await tokens.getToken()
      expect(failures).toStrictEqual(['read not_connected'])
      await server.start()
      await expect.poll(() => client.status).toBe('ready')
      // Nothing was queued for later.
      expect(await client.keys('*')).toStrictEqual([])
      await tokens.close()
    })

    it('loses time once while Redis does not respond', async () => {
      const { failures, tokens } = open()
      server.freeze(true)
      const first = await timed(() => tokens.getToken())
      const next = await timed(() => tokens.getToken({ forceRefresh: true }))
      server.freeze(false)
      process.stdout.write(`  Redis paused: ${Math.round(first)} ms, then ${Math.round(next)} ms\n`)
      // The next call did not use the store.
      expect(failures).toStrictEqual(['read slow'])
      await tokens.close()
    })

    it('uses the store again when Redis is back after a command was in flight', async () => {
      const { failures, tokens } = open()
      server.freeze(true)
      await tokens.getToken()
      await server.kill()
      await server.start()
      await expect.poll(() => client.status).toBe('ready')
      // The provider avoids a failed store for a second.
      await setTimeout(1_000)
      const { value } = await tokens.getToken({ forceRefresh: true })
      await tokens.close()
      expect(failures).toStrictEqual(['read slow'])
      const [key = ''] = await client.keys('*')
      expect(await client.hget(key, 'token')).toContain(value)
    })
  })
})
