import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { createTokenProvider, type TokenSource, type TokenStore } from '@tokenwell/core'
import { postgresIsAbsent, startPostgres } from '@tokenwell/internal-testing/postgres'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { createPostgresqlTokenStore } from '@tokenwell/token-stores/postgresql'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { Pool } from 'pg'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

/** An address where a server is down or hangs, until it is there. */
async function startLate(behavior: 'down' | 'hanging', { hostname, port }: URL) {
  let isThere = false
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    if (isThere) socket.pipe(connect(Number(port), hostname).on('error', () => {})).pipe(socket)
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
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    appear() {
      isThere = true
      close()
    },
  }
}

const stores = {
  async Redis() {
    const redis = await startRedis()
    return {
      url: redis.url,
      open(url: string) {
        const client = createClient({ url }).on('error', () => {})
        client.connect().catch(() => {})
        onTestFinished(() => client.destroy())
        return createRedisTokenStore({ client })
      },
      stop: () => redis[Symbol.asyncDispose](),
    }
  },
  async PostgreSQL() {
    const postgres = await startPostgres()
    return {
      url: await postgres.createDatabase(),
      open(connectionString: string) {
        const client = new Pool({ connectionString, connectionTimeoutMillis: 1_000 }).on('error', () => {})
        onTestFinished(() => client.end())
        return createPostgresqlTokenStore({ client })
      },
      stop: () => postgres.stop(),
    }
  },
} satisfies Record<
  string,
  () => Promise<{ url: string; open(url: string): TokenStore; stop(): PromiseLike<void> }>
>

describe.each([
  ['Redis', !redisInstalled],
  ['PostgreSQL', postgresIsAbsent],
] as const)('an application that starts without %s', (name, isAbsent) => {
  let server: Awaited<ReturnType<(typeof stores)[typeof name]>>
  beforeAll(async () => {
    if (!isAbsent) server = await stores[name]()
  })
  afterAll(() => server?.stop())

  it.skipIf(isAbsent).each(['down', 'hanging'] as const)(
    'gets tokens at once while it is %s, and shares them once it is there',
    async (behavior) => {
      const late = await startLate(behavior, new URL(server.url))
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
      const url = new URL(server.url)
      url.host = late.host
      const store = server.open(url.href)
      await using first = createTokenProvider(source, { store })
      const startedAt = performance.now()
      expect((await first.getToken()).value).toBe('token 1')
      // Far below the limit of a call, and above any pause of a slow machine.
      expect(performance.now() - startedAt).toBeLessThan(5_000)

      late.appear()
      // The pause after a failure ends after a second.
      await expect
        .poll(
          async () => {
            await first.getToken({ forceRefresh: true })
            return store.read(key).catch(() => undefined)
          },
          { timeout: 20_000 },
        )
        .toBeDefined()
      const before = requests
      await using second = createTokenProvider(source, { store })
      expect((await second.getToken()).value).toBe(`token ${before}`)
      expect(requests).toBe(before)
    },
    30_000,
  )
})
