import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createTokenProvider, type TokenSource } from '@tokenwell/core'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

/** An address where Redis is down or hangs, until it is there. */
async function startLateRedis(behavior: 'down' | 'hanging', redis: RedisServer) {
  let isThere = false
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    if (isThere) socket.pipe(connect(redis.port, '127.0.0.1').on('error', () => {})).pipe(socket)
    else if (behavior === 'down') socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    close()
    server.close()
  })
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    appear() {
      isThere = true
      close()
    },
  }
}

describe.skipIf(!redisInstalled)('an application that starts without Redis', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis[Symbol.asyncDispose]())

  it.each(['down', 'hanging'] as const)(
    'gets tokens while Redis is %s, and shares them once Redis is there',
    async (behavior) => {
      const late = await startLateRedis(behavior, redis)
      let requests = 0
      const key = crypto.randomUUID()
      const source: TokenSource = {
        cacheKey: async () => key,
        requestToken: async () => ({
          accessToken: `token ${++requests}`,
          tokenType: 'Bearer',
          expiresIn: 3_600,
          scope: [],
        }),
      }
      const client = createClient({ url: late.url }).on('error', () => {})
      client.connect().catch(() => {})
      onTestFinished(() => client.destroy())
      const store = createRedisTokenStore({ client })
      await using first = createTokenProvider(source, { store })
      expect((await first.getToken()).value).toBe('token 1')

      late.appear()
      await expect.poll(() => client.isReady).toBe(true)
      // The pause after a failure ends after a second.
      await expect
        .poll(async () => {
          await first.getToken({ forceRefresh: true })
          return store.read(key)
        })
        .toBeDefined()
      const before = requests
      await using second = createTokenProvider(source, { store: createRedisTokenStore({ client }) })
      expect((await second.getToken()).value).toBe(`token ${before}`)
      expect(requests).toBe(before)
    },
  )
})
