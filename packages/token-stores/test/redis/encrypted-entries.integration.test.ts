import type { TokenResponse, TokenStore } from '@tokenwell/core'
import {
  createRedisTokenStore,
  type EntryUnreadableEvent,
  type NodeRedisClient,
  type RedisTokenStoreOptions,
} from '@tokenwell/token-stores/redis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'

const keyA = Buffer.alloc(32, 'a').toString('base64')
const keyB = new Uint8Array(32).fill(7)
const response: TokenResponse = {
  accessToken: 'a-secret-token',
  tokenType: 'Bearer',
  expiresIn: 60,
  scope: ['read'],
  clientId: 'a-client-id',
}
const rejection = { kind: 'credentials', message: 'rejected', oauthError: 'invalid_client' } as const

describe.skipIf(!redisInstalled)('encrypted entries', () => {
  let redis: RedisServer
  let client: ReturnType<typeof connection>
  let events: EntryUnreadableEvent[]
  const connection = () => createClient({ url: redis.url })
  beforeAll(async () => {
    redis = await startRedis()
    client = await connection().connect()
  })
  afterAll(async () => {
    client?.destroy()
    await redis?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    events = []
    await client.flushDb()
  })

  const storeWith = (encryptionKeys?: RedisTokenStoreOptions['encryptionKeys']) =>
    createRedisTokenStore({ client, encryptionKeys, onEvent: (event) => events.push(event) })
  const write = async (store: TokenStore, key = 'cache key', lifetimeMs = 60_000) => {
    const lease = (await store.lease(key, 5_000))!
    const id = await lease.write(response, lifetimeMs)
    await lease.release()
    return id!
  }

  const redisTime = async () => {
    const [seconds, microseconds] = (await client.sendCommand(['TIME'])) as unknown as [string, string]
    return Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000)
  }
  /** The client of a Redis whose clock is ahead: the first value that its scripts return is the time. */
  const clientAfter = (ms: number): NodeRedisClient => {
    const later = (reply: unknown): unknown => {
      const [now, ...values] = reply as [number, ...unknown[]]
      return [now + ms, ...values]
    }
    return {
      isOpen: true,
      eval: async (...call) => later(await client.eval(...call)),
      evalSha: async (...call) => later(await client.evalSha(...call)),
    }
  }

  it('contain neither the cache key nor any part of the response', async () => {
    const store = storeWith([keyA])
    await write(store)
    await (await store.lease('cache key', 5_000))!.writeCooldown(rejection, 30_000)
    await store.lease('cache key', 5_000, 'fallback')
    const [name = ''] = await client.keys('*')
    const fields = await client.hGetAll(name)
    expect(Object.keys(fields).sort()).toEqual(['cooldown', 'fallback', 'lease', 'token'])
    const dump = [name, ...Object.values(fields)].join('\n')
    for (const secret of [
      'cache key',
      response.accessToken,
      response.clientId!,
      rejection.message,
      'access_token',
    ]) {
      expect(dump).not.toContain(secret)
      expect(dump).not.toContain(Buffer.from(secret).toString('base64').slice(0, -4))
    }
  })

  it('have a name for each encryption key and new content for each write', async () => {
    await write(storeWith([keyA]))
    const [name] = await client.keys('*')
    const first = await client.hGet(name!, 'token')
    await write(storeWith([keyA]))
    expect(await client.keys('*')).toEqual([name])
    expect(await client.hGet(name!, 'token')).not.toBe(first)
    await write(storeWith([keyB]))
    expect(await client.keys('*')).toHaveLength(2)
  })

  it('have the names that every other version gives them', async () => {
    await write(storeWith(), 'a cache key')
    expect(await client.keys('*')).toEqual(['tokenwell:y6WKHEI8r5kna6U2lqzOOhSooy0AgtOh7MEodu_yp7Q'])
    await client.flushDb()
    await write(storeWith([new Uint8Array(32).fill(1)]), 'a cache key')
    expect(await client.keys('*')).toEqual(['tokenwell:vL8zdPAS.8TUysOn2Yt2O5qsaAvLctg5bD7V5__M_g9Cp07an0-w'])
  })

  it('stay readable while the encryption key is replaced, process by process', async () => {
    const before = storeWith([keyA])
    const changing = storeWith([keyB, keyA])
    const after = storeWith([keyB])
    const old = await write(before)
    expect(await changing.read('cache key')).toMatchObject({ id: old, response })
    const next = await write(changing, 'cache key', 70_000)
    expect(await changing.read('cache key')).toMatchObject({ id: next, response })
    expect(await after.read('cache key')).toMatchObject({ id: next, response })
    // A process without the new key continues to use the entry of the old one.
    expect(await before.read('cache key')).toMatchObject({ id: old, response })
    const longest = await write(before, 'cache key', 80_000)
    expect(await changing.read('cache key')).toMatchObject({ id: longest })
    expect(events).toEqual([])
  })

  it('are removed with any of the encryption keys', async () => {
    const old = await write(storeWith([keyA]))
    await storeWith([keyB, keyA]).remove('cache key', old)
    expect(await storeWith([keyA]).read('cache key')).toBeUndefined()
  })

  it('are not confused with entries in plain text', async () => {
    await write(storeWith())
    expect(await storeWith([keyA]).read('cache key')).toBeUndefined()
    const [plain] = await client.keys('*')
    await write(storeWith([keyA]))
    const encrypted = (await client.keys('*')).find((name) => name !== plain)!
    await client.hSet(encrypted, await client.hGetAll(plain!))
    expect(await storeWith([keyA]).read('cache key')).toBeUndefined()
    expect(events).toEqual([{ type: 'entry_unreadable', redisKey: encrypted, field: 'token' }])
  })

  it('expire in Redis: tokens, cooldowns and leases', async () => {
    const store = storeWith([keyA])
    const before = await redisTime()
    const lease = (await store.lease('cache key', 20_000))!
    const after = await redisTime()
    const waited = performance.now() + 50
    while (performance.now() < waited) await new Promise((resolve) => setTimeout(resolve, 5))
    await lease.write(response, 60_000)
    await lease.writeCooldown(rejection, 30_000)
    const [name = ''] = await client.keys('*')
    const fields = await client.hGetAll(name)
    const ends = Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [field, Number(value.split('.')[1])]),
    )
    expect(await client.pExpireTime(name)).toBe(ends['token'])
    const leasedAt = ends['token']! - 60_000
    for (const taken of [leasedAt, ends['lease']! - 20_000]) {
      expect(taken).toBeGreaterThanOrEqual(before)
      expect(taken).toBeLessThanOrEqual(after)
    }
    // Counted from when it was written, not from the lease.
    expect(ends['cooldown']).toBeGreaterThanOrEqual(leasedAt + 30_050)
  })

  it('expire as written, even if the Redis key is kept or restored', async () => {
    await write(storeWith([keyA]))
    const [name] = await client.keys('*')
    await client.persist(name!)
    const readAfter = (ms: number) =>
      createRedisTokenStore({
        client: clientAfter(ms),
        encryptionKeys: [keyA],
        onEvent: (event) => events.push(event),
      }).read('cache key')
    expect(await readAfter(30_000)).toMatchObject({ response })
    expect(await readAfter(60_000)).toBeUndefined()
    expect(events).toEqual([])
  })

  it.each([
    [
      'throws',
      (): unknown => {
        throw new Error('error of the listener')
      },
    ],
    ['rejects', (): unknown => Promise.reject(new Error('error of the listener'))],
  ])('are read despite a listener that %s', async (_how, onEvent) => {
    await write(storeWith([keyA]))
    const [name] = await client.keys('*')
    await client.set(name!, 'foreign')
    const store = createRedisTokenStore({
      client,
      encryptionKeys: [keyA],
      onEvent,
    })
    expect(await store.read('cache key')).toBeUndefined()
  })
})
