import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, afterEach, describe, expect, it } from 'vitest'
import type { TokenError } from '@tokenwell/core'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { report } from './fleet.ts'
import { openCaller, type Caller } from './test-caller.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

/** Unlike `once` of node:events, ignores errors: this client reconnects after one. */
const emitted = (client: Caller['client'], event: 'ready' | 'reconnecting') =>
  new Promise<void>((resolve) => client.once(event, resolve))

describe.skipIf(!redisInstalled)('a Redis server that is', () => {
  let redis: RedisServer
  let endpoint: TokenEndpoint
  let duringRequest: () => unknown
  let caller: Caller
  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await startTokenEndpoint({
      lifetimeMs: 3_600_000,
      beforeResponse: async () => {
        await duringRequest()
        return true
      },
    })
  })
  afterAll(async () => {
    await endpoint?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    duringRequest = () => {}
    caller = await openCaller(redis.url, endpoint, { scope: crypto.randomUUID() })
  })
  afterEach(() => caller[Symbol.asyncDispose]())

  /** A new token, and the time that the store added to the request. */
  async function timedToken({ events, tokens } = caller) {
    const before = events.length
    const began = performance.now()
    const { value } = await tokens.getToken({ forceRefresh: true })
    const tookMs = performance.now() - began
    const received = events.slice(before).find((event) => event.type === 'token_received')!
    return { value, extraMs: Math.round(tookMs - received.durationMs) }
  }

  async function expectStoreInUse() {
    caller.passTime(30_000)
    const failures = caller.storeFailures().length
    const { value } = await timedToken()
    // The token is stored in the background.
    await caller.tokens.close()
    expect(caller.storeFailures()).toHaveLength(failures)
    const keys = await caller.client.keys('tokenwell:*')
    const values = await Promise.all(keys.map((key) => caller.client.hGet(key, 'token')))
    expect(values.some((stored) => stored?.includes(value))).toBe(true)
  }

  it('down costs callers no time, and is used again when it is back', async () => {
    const reconnecting = emitted(caller.client, 'reconnecting')
    await redis.kill()
    try {
      await reconnecting
      const { extraMs } = await timedToken()
      report('Redis down', { extraMs })
      expect(caller.storeFailures()).toEqual(['lease not_connected'])
      await timedToken()
      expect(caller.storeFailures()).toHaveLength(1)
    } finally {
      await redis.start()
    }
    if (!caller.client.isReady) await emitted(caller.client, 'ready')
    await expectStoreInUse()
  })

  it('down keeps no lease that a client without `isReady` queued', async () => {
    const reconnecting = emitted(caller.client, 'reconnecting')
    await redis.kill()
    const { eval: evaluate, evalSha } = caller.client
    const client = {
      isOpen: true,
      eval: evaluate.bind(caller.client),
      evalSha: evalSha.bind(caller.client),
    }
    const queueing = await openCaller(redis.url, endpoint, { scope: crypto.randomUUID(), client })
    try {
      await reconnecting
      const { extraMs } = await timedToken(queueing)
      expect(queueing.storeFailures()).toEqual(['lease slow'])
      report('Redis down, commands are queued', { extraMs })
    } finally {
      await redis.start()
    }
    if (!caller.client.isReady) await emitted(caller.client, 'ready')
    const leases = async () => {
      const keys = await caller.client.keys('tokenwell:*')
      return (await Promise.all(keys.map((key) => caller.client.hKeys(key)))).flat()
    }
    await expect.poll(leases).toEqual([])
    await queueing[Symbol.asyncDispose]()
  })

  it('paused costs one call 200 ms, and the next ones nothing', async () => {
    redis.freeze(true)
    try {
      const first = await timedToken()
      const next = await Promise.all(Array.from({ length: 100 }, () => timedToken()))
      report('Redis paused', {
        extraMs: first.extraMs,
        nextMs: Math.max(...next.map(({ extraMs }) => extraMs)),
      })
      expect(first.extraMs).toBeGreaterThanOrEqual(190)
      expect(caller.storeFailures()).toEqual(['lease slow'])
    } finally {
      redis.freeze(false)
    }
    // A process that was paused needs a moment to recover.
    await caller.client.ping()
    await expectStoreInUse()
  })

  it('slow costs one call less than one response of Redis', async () => {
    const delayMs = 2_000
    const distance = createServer((near) => {
      const far = connect(redis.port, '127.0.0.1')
      near.pipe(far)
      far.on('data', (data) => setTimeout(() => near.write(data), delayMs))
      for (const socket of [near, far])
        socket.on('error', () => {}).on('close', () => [near, far].map((end) => end.destroy()))
    }).listen(0, '127.0.0.1')
    await once(distance, 'listening')
    const { port } = distance.address() as AddressInfo
    const other = await openCaller(`redis://127.0.0.1:${port}`, endpoint, { scope: crypto.randomUUID() })
    const { extraMs } = await timedToken(other)
    report(`Redis slow by ${delayMs} ms`, { extraMs, failures: other.storeFailures() })
    expect(extraMs).toBeLessThan(delayMs)
    await other[Symbol.asyncDispose]()
    distance.close()
  })

  it.each([
    ['read-only', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE'], 'lease READONLY'],
    ['full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0'], 'lease OOM'],
    [
      'missing replicas',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
      'lease NOREPLICAS',
    ],
    [
      'denying commands',
      ['ACL', 'SETUSER', 'default', '-@scripting'],
      ['ACL', 'SETUSER', 'default', '+@scripting'],
      'lease NOPERM',
    ],
    [
      'denying commands of the scripts',
      ['ACL', 'SETUSER', 'default', '-hmget'],
      ['ACL', 'SETUSER', 'default', '+hmget'],
      'lease NOPERM',
    ],
  ])('%s is avoided and reported', async (_, enable, disable, failure) => {
    await caller.client.sendCommand(enable)
    try {
      await timedToken()
      expect(caller.storeFailures()).toEqual([failure])
    } finally {
      await caller.client.sendCommand(disable)
    }
    await expectStoreInUse()
  })

  it.each(['FLUSHALL', 'SCRIPT FLUSH'])(
    'emptied by %s during a token request fails no caller',
    async (command) => {
      duringRequest = () => caller.client.sendCommand(command.split(' '))
      await timedToken()
      expect(caller.storeFailures()).toEqual([])
      duringRequest = () => {}
      await expectStoreInUse()
    },
  )

  it('killed during a token request fails no caller', async () => {
    duringRequest = async () => {
      await redis.kill()
      await redis.start()
    }
    await timedToken()
    duringRequest = () => {}
    if (!caller.client.isReady) await emitted(caller.client, 'ready')
    await expectStoreInUse()
  })

  it('filled with values of other programs is treated as empty', async () => {
    await caller.client.flushAll()
    await caller.tokens.getToken()
    const [key = ''] = await caller.client.keys('tokenwell:*')
    await caller.client.del(key)
    await caller.client.rPush(key, 'a list')
    await expectStoreInUse()
  })

  it.each([
    [['lease'], 'a token'],
    [['lease', 'fallback'], 'unavailable'],
  ])('in which another program keeps the fields %j gives a call %s', async (slots, outcome) => {
    await caller.client.flushAll()
    await caller.tokens.getToken()
    await caller.tokens.close()
    const [key = ''] = await caller.client.keys('tokenwell:*')
    await caller.client.del(key)
    for (const slot of slots) await caller.client.hSet(key, slot, `somebody.${Date.now() + 50_000}`)
    const waiting = await openCaller(redis.url, endpoint, { scope: caller.scope, timeoutMs: 2_000 })
    const call = waiting.tokens.getToken().then(
      () => 'a token',
      (error: TokenError) => error.kind,
    )
    expect(await call).toBe(outcome)
    await waiting[Symbol.asyncDispose]()
  })

  it.each([
    ['a status', '+OK\r\n'],
    ['a number', ':7\r\n'],
    ['nothing', '$-1\r\n'],
    ['an empty list', '*0\r\n'],
    ['an unexpected list', '*3\r\n:1\r\n*1\r\n:5\r\n:6\r\n'],
    ['an error', '-ERR unknown\r\n'],
    ['no RESP', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('another server, responding with %s, fails no caller', async (_, response) => {
    const otherServer = createServer((socket) => {
      socket.on('error', () => {})
      socket.setEncoding('utf8').on('data', (text: string) => {
        for (const command of text.match(/\$\d+\r\n(HELLO|CLIENT|EVALSHA|EVAL)\r\n/gi) ?? []) {
          socket.write(
            /EVAL/.test(command) ? response : /HELLO/i.test(command) ? '%1\r\n+proto\r\n:3\r\n' : '+OK\r\n',
          )
        }
      })
    }).listen(0, '127.0.0.1')
    await once(otherServer, 'listening')
    const url = `redis://127.0.0.1:${(otherServer.address() as AddressInfo).port}`
    const other = await openCaller(url, endpoint, { scope: crypto.randomUUID() })
    const tokens = await Promise.all(Array.from({ length: 50 }, () => other.tokens.getToken()))
    expect(new Set(tokens).size).toBe(1)
    expect(other.storeFailures()).toHaveLength(1)
    report('another server', { response, failures: other.storeFailures() })
    await other[Symbol.asyncDispose]()
    otherServer.close()
  })
})
