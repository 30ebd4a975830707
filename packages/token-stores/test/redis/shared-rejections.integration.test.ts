import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it, afterEach, beforeEach } from 'vitest'
import type { TokenProvider, TokenResponse } from '@tokenwell/core'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { report } from './fleet.ts'
import { openCaller, recordingClient, type Caller } from './test-caller.ts'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

const platformResponse: TokenResponse = {
  accessToken: 'b'.repeat(28),
  tokenType: 'Bearer',
  expiresIn: 3_599,
  issuedAt: new Date('2026-01-02T03:04:05.678Z'),
  scope: [],
  clientId: 'c'.repeat(32),
  applicationName: '2f1d4c1e-6a58-4d0e-9a5f-3b1f5d0f9d3c',
  organizationName: 'organization',
  developerEmail: 'developer@example.com',
  status: 'approved',
  apiProducts: ['speech-to-text'],
}

const rejection = {
  kind: 'credentials',
  message:
    'The token endpoint rejected the client credentials (401 invalid_client). Check the client ID and secret of "billing" at https://auth.example.com.',
  status: 401,
  oauthError: 'invalid_client',
} as const

describe.skipIf(!redisInstalled)('the costs of the store', () => {
  let redis: RedisServer
  let endpoint: TokenEndpoint
  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
  })
  afterAll(async () => {
    await endpoint?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })

  it('are one round trip for a stored token, none for the next 9,999 calls and five for a new token', async () => {
    const connection = await createClient({ url: redis.url }).connect()
    const scriptCalls = async () =>
      [...(await connection.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)]
        .map((match) => Number(match[1]))
        .reduce((sum, calls) => sum + calls, 0)
    const { client, trips } = recordingClient(connection)
    /** Round trips of `work`, including those in the background. */
    const tripsOf = async (work: (tokens: TokenProvider) => Promise<unknown>) => {
      const caller = await openCaller(redis.url, endpoint, { client })
      const before = trips.length
      await work(caller.tokens)
      await caller[Symbol.asyncDispose]()
      return trips.length - before
    }
    const firstEver = await tripsOf((tokens) => tokens.getToken())
    expect(trips.filter(({ command }) => command === 'eval')).toHaveLength(4)
    await connection.flushDb()
    const cold = await tripsOf((tokens) => tokens.getToken())
    const stored = await tripsOf((tokens) => tokens.getToken())
    const served = await scriptCalls()
    const warm = await tripsOf(async (tokens) => {
      for (let call = 0; call < 10_000; call++) await tokens.getToken()
    })
    expect(await scriptCalls()).toBe(served + 1)
    report('round trips', { firstEver, cold, stored, '10,000 calls': warm })
    for (const trips of [firstEver, cold]) expect(trips).toBeLessThanOrEqual(5)
    expect({ stored, warm }).toEqual({ stored: 1, warm: 1 })
    connection.destroy()
  })

  it('are less than a kilobyte for a token', async () => {
    const client = await createClient({ url: redis.url }).connect()
    const bytes: Record<string, number> = {}
    const longToken = { ...platformResponse, accessToken: 'j'.repeat(1_000) }
    for (const [size, response] of Object.entries({
      'opaque token': platformResponse,
      'JWT of 1,000': longToken,
    })) {
      for (const [form, encryptionKeys] of Object.entries({
        plain: undefined,
        encrypted: [new Uint8Array(32)],
      })) {
        await client.flushDb()
        const lease = await createRedisTokenStore({ client, encryptionKeys }).lease('a cache key', 5_000)
        await lease!.write(response, 3_599_000)
        await lease!.writeCooldown(rejection, 30_000)
        const [key = ''] = await client.keys('*')
        bytes[`${size}, ${form}, with a cooldown`] = (await client.memoryUsage(key)) ?? 0
        await client.hDel(key, ['lease', 'cooldown'])
        bytes[`${size}, ${form}`] = (await client.memoryUsage(key)) ?? 0
      }
    }
    report('bytes', bytes)
    expect(bytes['opaque token, encrypted']).toBeLessThan(1_000)
    client.destroy()
  })
})

describe.skipIf(!redisInstalled)('a shared rejection', () => {
  let redis: RedisServer
  let endpoint: TokenEndpoint
  let callers: Caller[]
  let outcome: true | 'invalid_client'
  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000, beforeResponse: async () => outcome })
  })
  afterAll(async () => {
    await endpoint?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    outcome = true
    endpoint.requests.length = 0
    // Each with its own connection and store, as in separate processes.
    const scope = crypto.randomUUID()
    callers = await Promise.all(Array.from({ length: 5 }, () => openCaller(redis.url, endpoint, { scope })))
    await callers[0]!.client.flushAll()
  })
  afterEach(() => Promise.all(callers.map((caller) => caller[Symbol.asyncDispose]())))
  const all = <Value>(work: (caller: Caller) => Promise<Value>) => Promise.all(callers.map(work))

  it('of the credentials causes one token request a second for all processes at first', async () => {
    outcome = 'invalid_client'
    const errors = await all(({ tokens }) => tokens.getToken().catch((error: unknown) => error))
    for (const error of errors)
      expect(error).toMatchObject({ kind: 'credentials', oauthError: 'invalid_client' })
    expect(endpoint.requests).toHaveLength(1)
    await all(({ tokens }) => tokens.getToken().catch(() => {}))
    const { client } = callers[0]!
    const [key = ''] = await client.keys('tokenwell:*')
    const expiresAt = Number((await client.hGet(key, 'cooldown'))?.split('.')[1])
    expect(expiresAt - Date.now()).toBeLessThanOrEqual(1_250)
  })

  it('of the credentials ends for all processes with the first success', async () => {
    outcome = 'invalid_client'
    await all(({ tokens }) => expect(tokens.getToken()).rejects.toThrow())
    outcome = true
    const first = await callers[0]!.tokens.getToken({ forceRefresh: true })
    const values = () => all(({ tokens }) => tokens.getToken().then(({ value }) => value, String))
    await expect.poll(values).toEqual(callers.map(() => first.value))
    expect(endpoint.requests).toHaveLength(2)
  })

  it('of a token causes one token request for all processes', async () => {
    const old = await all(({ tokens }) => tokens.getToken())
    await all(async ({ tokens }) => tokens.reject(tokens.peekToken()!))
    const refreshed = await all(({ tokens }) => tokens.getToken())
    expect(new Set([...old, ...refreshed].map(({ value }) => value)).size).toBe(2)
    expect(endpoint.requests).toHaveLength(2)
  })

  it('of a token that was replaced does not affect the new one', async () => {
    const [first, late] = callers
    const old = await late!.tokens.getToken()
    first!.tokens.reject(await first!.tokens.getToken())
    const refreshed = await first!.tokens.getToken()
    await first!.tokens.close()
    late!.tokens.reject(old)
    expect((await late!.tokens.getToken()).value).toBe(refreshed.value)
    expect((await callers[2]!.tokens.getToken()).value).toBe(refreshed.value)
    expect(endpoint.requests).toHaveLength(2)
  })
})
