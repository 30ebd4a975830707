import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openCaller, type Caller } from './test-caller.ts'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

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
