import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { createRedisTokenStore, type RedisTokenStoreClient } from '@tokenwell/token-stores/redis'
import { openIoRedis, openNodeRedis } from './describe-client.ts'

/** A connection to a Redis server that a test can break. */
interface BreakableConnection extends AsyncDisposable {
  readonly port: number
  /** Delays each reply. */
  delayMs: number
  /** Breaks the connection instead of forwarding the next script, or its reply, which Redis then has executed. */
  breakAt(what: 'script' | 'reply'): void
}

async function startBreakableConnection(redisPort: number): Promise<BreakableConnection> {
  let armed: 'script' | 'reply' | undefined
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(redisPort, '127.0.0.1')
    const cut = () => {
      armed = undefined
      near.destroy()
      far.destroy()
    }
    let breaksAtReply = false
    near.on('data', (data) => {
      const isScript = /\r\nEVAL/i.test(data.toString('latin1'))
      if (isScript && armed === 'script') return cut()
      breaksAtReply = isScript && armed === 'reply'
      far.write(data)
    })
    far.on('data', (data) => {
      if (breaksAtReply) return cut()
      if (connection.delayMs === 0) near.write(data)
      else setTimeout(() => near.destroyed || near.write(data), connection.delayMs)
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay().on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection: BreakableConnection = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    breakAt(what) {
      armed = what
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return connection
}

const token = { accessToken: 'token', tokenType: 'Bearer', scope: [] } as const

describe.skipIf(!redisInstalled)('a connection that is lost', () => {
  let redis: RedisServer
  let connection: BreakableConnection
  let other: ReturnType<typeof createClient>
  beforeAll(async () => {
    redis = await startRedis()
    connection = await startBreakableConnection(redis.port)
    other = createClient({ url: redis.url })
    await other.connect()
  })
  afterAll(async () => {
    other?.destroy()
    await connection?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })

  describe.each<[string, () => Promise<{ client: RedisTokenStoreClient; close: () => unknown }>]>([
    [
      'with redis',
      () =>
        openNodeRedis(createClient({ url: `redis://127.0.0.1:${connection.port}` }).on('error', () => {})),
    ],
    [
      'with ioredis',
      // Commands in flight are not sent again by the client itself.
      () =>
        openIoRedis(
          new Redis({
            port: connection.port,
            lazyConnect: true,
            autoResendUnfulfilledCommands: false,
            maxRetriesPerRequest: 0,
          }),
        ),
    ],
  ])('%s', (_name, open) => {
    it('with the reply to a lease frees the lease for other processes', async () => {
      const { client, close } = await open()
      const key = crypto.randomUUID()
      connection.breakAt('reply')
      await expect(createRedisTokenStore({ client }).lease(key, 30_000)).rejects.toThrow()
      const store = createRedisTokenStore({ client: other })
      await expect.poll(() => store.lease(key, 30_000)).toBeDefined()
      await close()
    })

    it('with the release of an extended lease frees it for other processes', async () => {
      const { client, close } = await open()
      const key = crypto.randomUUID()
      const lease = (await createRedisTokenStore({ client }).lease(key, 30_000))!
      expect(await lease.extend(30_000)).toBe(true)
      connection.breakAt('script')
      await expect(lease.release()).rejects.toThrow()
      const store = createRedisTokenStore({ client: other })
      await expect.poll(() => store.lease(key, 30_000)).toBeDefined()
      await close()
    })

    it.each(['script', 'reply'] as const)(
      'with the %s of a write hands the token to other processes and frees the lease',
      async (what) => {
        const { client, close } = await open()
        const key = crypto.randomUUID()
        const lease = (await createRedisTokenStore({ client }).lease(key, 30_000))!
        connection.breakAt(what)
        await expect(lease.write(token, 60_000)).rejects.toThrow()
        await lease.release().catch(() => {})
        const store = createRedisTokenStore({ client: other })
        await expect.poll(() => store.lease(key, 30_000)).toBeDefined()
        expect(await store.read(key)).toMatchObject({ response: { accessToken: 'token' } })
        await close()
      },
    )
  })
})

it('does not keep a process running that has lost its connection', async () => {
  const program = fileURLToPath(new URL('lease-without-connection.ts', import.meta.url))
  const child = fork(program, {
    execArgv: ['--conditions=@tokenwell/source', '--disable-warning=ExperimentalWarning'],
  })
  onTestFinished(() => void child.kill())
  expect(await once(child, 'exit')).toStrictEqual([0, null])
})
