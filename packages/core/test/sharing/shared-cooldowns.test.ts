import { describe, expect, it } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenProvider,
  type TokenError,
  type TokenErrorKind,
} from '@tokenwell/core'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import {
  ScriptedEndpoint,
  unavailable,
  wrongSecret,
  type Script,
  type ScriptedResponse,
} from '../support/scripted-endpoint.ts'
import { keyedSource, startWith, storeWith } from './sharing-providers.ts'

useFakeTime()

function fleet(size: number, response: Script) {
  const endpoint = new ScriptedEndpoint(response)
  const store = createMemoryTokenStore()
  const providers = Array.from({ length: size }, () => createTokenProvider(keyedSource(endpoint), { store }))
  return { endpoint, store, providers, first: providers[0]!, second: providers[1]! }
}

describe('a rejection of the credentials', () => {
  it('is shared: one request, then the same error for all processes', async () => {
    const { endpoint, providers } = fleet(10, wrongSecret)
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(2_500)
    for (const { error } of calls) {
      expect(error).toMatchObject({ name: 'TokenError', kind: 'credentials', oauthError: 'invalid_client' })
    }
    expect(endpoint.requests).toHaveLength(1)
  })

  it('does not delay forced calls', async () => {
    const { endpoint, first, second } = fleet(2, wrongSecret)
    await first.getToken().catch(() => {})
    endpoint.script = {}
    expect((await second.getToken({ forceRefresh: true })).value).toBe('token-2')
  })

  it('is repeated early once, then shared with the cooldown of a single process', async () => {
    const { endpoint, providers } = fleet(10, { ...wrongSecret, latencyMs: 50 })
    for (let second = 0; second < 45; second++) {
      for (const tokens of providers) watch(tokens.getToken())
      await pass(1_000)
    }
    expect(endpoint.requests).toHaveLength(3)
    expect(endpoint.requests[2]!.atMs - endpoint.requests[1]!.atMs).toBeGreaterThanOrEqual(22_000)
  })

  it('counts for a process that had not failed before', async () => {
    const { endpoint, first, second } = fleet(2, wrongSecret)
    for (const cooldownMs of [0, 1_000, 30_000]) {
      await pass(1.25 * cooldownMs)
      await first.getToken().catch(() => {})
    }
    await second.getToken().catch(() => {})
    await pass(1.25 * 60_000)
    expect(endpoint.requests).toHaveLength(3)
    await second.getToken().catch(() => {})
    expect(endpoint.requests).toHaveLength(4)
    await expect(second.getToken()).rejects.toThrow(/ Next attempt in 120 s\.$/)
  })

  it('ends for all processes with any success', async () => {
    const { endpoint, store, first, second } = fleet(2, wrongSecret)
    await first.getToken().catch(() => {})
    endpoint.script = {}
    const lease = await store.lease('key', 1_000)
    const response = { accessToken: 'by-another', tokenType: 'Bearer', expiresIn: 100, scope: [] } as const
    await lease?.write(response, 100_000)
    await lease?.release()
    expect((await second.getToken()).value).toBe('by-another')
  })

  it('is looked up again every second, because it may have ended', async () => {
    const { endpoint, first, second } = fleet(2, (request) => (request <= 2 ? wrongSecret : {}))
    await first.getToken().catch(() => {})
    await pass(2_000)
    await first.getToken().catch(() => {})
    await expect(second.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    await first.getToken({ forceRefresh: true })
    await pass(1_000)
    expect((await second.getToken()).value).toBe('token-3')
    expect(endpoint.requests).toHaveLength(3)
  })

  it('is not written again by a process that finds it only after it has taken the lease', async () => {
    const memory = createMemoryTokenStore()
    const lease = await memory.lease('key', 1_000)
    await lease?.writeCooldown({ kind: 'credentials', message: 'Rejected.', failures: 7 }, 300_000)
    await lease?.release()
    let reads = 0
    const store = storeWith({ read: async (key) => (++reads === 1 ? undefined : memory.read(key)) }, memory)
    const { endpoint, tokens } = startWith(store)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials', message: 'Rejected.' })
    await pass(2_000)
    expect([reads, endpoint.requests.length]).toEqual([2, 0])
    expect(await memory.read('key')).toMatchObject({ cooldownMs: 298_000, error: { failures: 7 } })
  })

  it('does not affect a valid token of another process', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    endpoint.script = wrongSecret
    await first.getToken({ forceRefresh: true }).catch(() => {})
    await pass(10)
    expect((await second.getToken()).value).toBe('token-1')
  })

  it.each<[string, TokenErrorKind, ScriptedResponse]>([
    ['unauthorized_client', 'credentials', { status: 400, body: { error: 'unauthorized_client' } }],
    [
      'a 401 with a description',
      'credentials',
      { status: 401, body: { error_description: 'Unknown client' } },
    ],
    [
      'a gateway’s fault',
      'credentials',
      { status: 500, body: { fault: { detail: { errorcode: 'oauth.v2.InvalidClientIdentifier' } } } },
    ],
    ['an endpoint that is unavailable', 'unavailable', unavailable],
    ['a page', 'malformed', { status: 200, body: '<html>' }],
  ])('is also shared for %s, with the time of the next attempt', async (_name, kind, response) => {
    const { endpoint, providers } = fleet(5, response)
    const errors: TokenError[] = []
    for (let tick = 0; tick < 300; tick++) {
      for (const tokens of providers) tokens.getToken().catch((error: TokenError) => errors.push(error))
      await pass(100)
    }
    expect(new Set(errors.map((error) => error.kind))).toEqual(new Set([kind]))
    expect(errors.filter(({ message }) => / Next attempt in \d+ s\.$/.test(message)).length).toBeGreaterThan(
      1_000,
    )
    expect(endpoint.requests.length).toBeLessThanOrEqual(12)
  })

  it('is not shared for a wrong path, which is local to a process', async () => {
    const { endpoint, first, second } = fleet(2, { status: 404, body: '' })
    await first.getToken().catch(() => {})
    endpoint.script = {}
    await expect(second.getToken()).resolves.toBeDefined()
  })

  it('of an unavailable endpoint is shared without delay', async () => {
    const { endpoint, providers } = fleet(200, unavailable)
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(7_000)
    expect(new Set(calls.map(({ state }) => state))).toEqual(new Set(['rejected']))
    // Three attempts of the holder, and as many of one waiting process.
    expect(endpoint.requests.length).toBeLessThanOrEqual(6)
  })

  it('with Retry-After applies to all processes, and callers with enough time wait', async () => {
    const { endpoint, providers } = fleet(50, (request) =>
      request === 1 ? { status: 429, body: '', headers: { 'retry-after': '20' } } : {},
    )
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(19_900)
    expect(endpoint.requests).toHaveLength(1)
    await pass(1_000)
    expect(new Set(calls.map(({ value }) => value?.value))).toEqual(new Set(['token-2']))
    expect(endpoint.requests).toHaveLength(2)
  })

  it('with Retry-After fails callers with less time at once', async () => {
    const { endpoint, store } = fleet(0, { status: 429, body: '', headers: { 'retry-after': '20' } })
    const options = { store, timeoutMs: 5_000 }
    const [first, second] = [1, 2].map(() => createTokenProvider(keyedSource(endpoint), options))
    for (const tokens of [first!, first!, second!, second!, second!]) {
      const call = watch(tokens.getToken())
      await pass(10)
      expect(call).toMatchObject({ state: 'rejected', error: { kind: 'throttled' } })
      if (tokens === first) await pass(2_000)
    }
    expect(endpoint.requests).toHaveLength(1)
  })

  it('with Retry-After fails a caller at once if no time would remain for the request', async () => {
    const { endpoint, store } = fleet(0, {})
    const lease = await store.lease('key', 1_000)
    await lease?.writeCooldown({ kind: 'throttled', message: 'Too many requests.' }, 5_000)
    await lease?.release()
    const call = watch(createTokenProvider(keyedSource(endpoint), { store, timeoutMs: 5_000 }).getToken())
    await pass(0)
    expect(call).toMatchObject({ state: 'rejected', error: { kind: 'throttled' } })
  })

  it('is shared before the next attempt if that is a second away', async () => {
    const { store, first } = fleet(1, (request) =>
      request === 1 ? { status: 503, body: '', headers: { 'retry-after': '1' } } : {},
    )
    const call = watch(first.getToken())
    await pass(500)
    expect(await store.read('key')).toMatchObject({ error: { kind: 'unavailable' } })
    await pass(600)
    expect(call.value?.value).toBe('token-2')
  })

  it('of an endpoint that is down for two seconds fails no call that would succeed without a store', async () => {
    const { endpoint, providers } = fleet(200, {})
    const recovered = Date.now() + 2_000
    endpoint.script = () => (Date.now() < recovered ? unavailable : {})
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(8_000)
    expect(new Set(calls.map(({ state }) => state))).toEqual(new Set(['resolved']))
  })

  it('is not shared before the next attempt if the server names no time', async () => {
    const { store, first } = fleet(1, (request) => (request === 1 ? unavailable : {}))
    fixRandom(0)
    const call = watch(first.getToken())
    await pass(400)
    expect(await store.read('key')).toBeUndefined()
    await pass(200)
    expect(call.value?.value).toBe('token-2')
  })

  it.each([
    [74_000, 'applies'],
    [76_000, 'is ignored, because it is longer than any that a provider writes'],
  ])('of %i ms %s', async (cooldownMs) => {
    const { endpoint, store, first } = fleet(1, {})
    const lease = await store.lease('key', 1_000)
    await lease?.writeCooldown({ kind: 'unavailable', message: 'The endpoint is down.' }, cooldownMs)
    await lease?.release()
    const call = watch(first.getToken())
    await pass(100)
    expect(call.state).toBe(cooldownMs > 75_000 ? 'resolved' : 'rejected')
    expect(endpoint.requests).toHaveLength(cooldownMs > 75_000 ? 1 : 0)
  })

  it('stores only the facts of the failure', async () => {
    const { store, first } = fleet(1, {
      status: 401,
      body: { error: 'invalid_client', error_description: 'canary' },
    })
    await first.getToken().catch(() => {})
    const stored = await store.read('key')
    expect(stored).toMatchObject({
      error: { kind: 'credentials', status: 401, oauthError: 'invalid_client' },
    })
    expect(JSON.stringify(stored)).not.toContain('canary')
  })
})
