import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenPool,
  createTokenProvider,
  type TokenProvider,
  type TokenSource,
} from '@tokenwell/core'
import { startWith, storeWith } from '../sharing/sharing-providers.ts'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { never, ScriptedEndpoint, sourceOf, tokensOf, unavailable } from '../support/scripted-endpoint.ts'

useFakeTime()

const closed = { name: 'TokenError', kind: 'aborted', message: 'The token provider was closed.' }

describe('close', () => {
  it('cancels the pending request and fails its callers', async () => {
    const endpoint = new ScriptedEndpoint(never)
    const tokens = createTokenProvider(sourceOf(endpoint))
    const calls = [watch(tokens.getToken()), watch(tokens.getToken({ forceRefresh: true }))]
    await pass(10)
    await tokens.close()
    await pass(0)
    for (const { error } of calls) expect(error).toMatchObject(closed)
    expect(endpoint.cancelled).toBe(1)
    expect(endpoint.inFlight).toBe(0)
  })

  it('cancels the request that was pending at a reset, and the one after it', async () => {
    const endpoint = new ScriptedEndpoint(never)
    const tokens = createTokenProvider(sourceOf(endpoint))
    const calls = [watch(tokens.getToken())]
    await pass(10)
    tokens.reset()
    calls.push(watch(tokens.getToken()))
    await pass(10)
    expect(endpoint.inFlight).toBe(2)
    await tokens.close()
    for (const { error } of calls) expect(error).toMatchObject(closed)
    expect(endpoint.inFlight).toBe(0)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('cancels the wait between attempts', async () => {
    const endpoint = new ScriptedEndpoint(unavailable)
    const tokens = createTokenProvider(sourceOf(endpoint))
    const call = watch(tokens.getToken())
    await pass(0)
    await tokens.close()
    await pass(60_000)
    expect(call.error).toMatchObject(closed)
    expect(endpoint.requests).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('returns no token afterwards, not even the cached one', async () => {
    const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
    await tokens.getToken()
    await tokens.close()
    expect(tokens.peekToken()).toBeUndefined()
    await expect(tokens.getToken()).rejects.toMatchObject(closed)
    await expect(tokens.getToken({ forceRefresh: true })).rejects.toMatchObject(closed)
  })

  it('keeps no token from a source that ignores the signal', async () => {
    let respond: (() => void) | undefined
    const tokens = createTokenProvider({
      cacheKey: () => Promise.resolve('key'),
      requestToken: () =>
        new Promise((resolve) => {
          respond = () => resolve({ accessToken: 'late', tokenType: 'Bearer', expiresIn: 60, scope: [] })
        }),
    })
    const call = watch(tokens.getToken())
    await pass(0)
    await tokens.close()
    respond!()
    await pass(0)
    expect(call.error).toMatchObject(closed)
    expect(tokens.peekToken()).toBeUndefined()
  })

  it('starts no request afterwards for a call that waits for a cooldown', async () => {
    const endpoint = new ScriptedEndpoint({ status: 429, headers: { 'retry-after': '45' }, body: '' })
    const tokens = createTokenProvider(sourceOf(endpoint))
    await tokens.getToken().catch(() => {})
    await pass(20_000)
    const call = watch(tokens.getToken())
    await tokens.close()
    await pass(60_000)
    expect(call.error).toMatchObject(closed)
    expect(endpoint.requests).toHaveLength(1)
  })

  it('can be called twice, and with `await using`', async () => {
    const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
    await tokens.close()
    await tokens.close()
    const disposed = createTokenProvider(sourceOf(new ScriptedEndpoint()))
    await disposed.getToken()
    await disposed[Symbol.asyncDispose]()
    await expect(disposed.getToken()).rejects.toMatchObject(closed)
  })

  it('waits for each write to the store, not only for the last operation', async () => {
    const written = vi.fn()
    const writeCooldown = () => new Promise<void>((resolve) => setTimeout(resolve, 100)).then(written)
    const { tokens } = startWith(storeWith({ writeCooldown }), {
      status: 429,
      headers: { 'retry-after': '5' },
      body: '',
    })
    const call = watch(tokens.getToken())
    await pass(10)
    const closing = watch(tokens.close())
    await pass(80)
    expect([call.error, closing.state]).toEqual([expect.objectContaining(closed), 'pending'])
    await pass(20)
    expect([written.mock.calls.length, closing.state]).toEqual([1, 'resolved'])
  })

  it('waits for the pending calls as often as it is called with `whenIdle`', async () => {
    const endpoint = new ScriptedEndpoint({ latencyMs: 200 })
    const tokens = createTokenProvider(sourceOf(endpoint))
    const call = watch(tokens.getToken())
    const closings = [1, 2, 3].map(() => watch(tokens.close({ whenIdle: true })))
    await pass(199)
    expect(closings.map(({ state }) => state)).toEqual(['pending', 'pending', 'pending'])
    await pass(1)
    expect([call, ...closings].map(({ state }) => state)).toEqual(Array(4).fill('resolved'))
    await expect(tokens.getToken()).rejects.toMatchObject(closed)
  })

  it('does not close the store', async () => {
    const close = vi.fn()
    const store = { ...createMemoryTokenStore(), close }
    const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()), { store })
    await tokens.close()
    expect(close).not.toHaveBeenCalled()
  })

  it.each([
    ['without a store', undefined],
    ['with a store', createMemoryTokenStore()],
  ])('leaves no timers %s', async (_name, store) => {
    const inner = sourceOf(new ScriptedEndpoint({ latencyMs: 100 }))
    const source: TokenSource = {
      cacheKey: async () => 'key',
      requestToken: (context) => inner.requestToken(context),
    }
    const tokens = createTokenProvider(source, { store })
    const call = watch(tokens.getToken())
    await pass(100)
    expect(call.state).toBe('resolved')
    expect(vi.getTimerCount()).toBe(0)
    await tokens.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe.each<[string, (tokens: TokenProvider) => Promise<void>]>([
  ['close', (tokens) => tokens.close()],
  ['await using', (tokens) => tokens[Symbol.asyncDispose]()],
])('closing a key of a pool with %s', (_name, close) => {
  it('cancels its pending request; the pool creates another provider for the key', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? never : {}))
    const pool = createTokenPool((_key: string) => tokensOf(endpoint))
    const tokens = pool.for('a')
    const call = watch(tokens.getToken())
    await pass(10)
    await close(tokens)
    await pass(0)
    expect(call.error).toMatchObject(closed)
    expect(endpoint.cancelled).toBe(1)
    expect(pool.has('a')).toBe(false)
    await expect(tokens.getToken()).rejects.toMatchObject(closed)
    expect((await pool.for('a').getToken()).value).toBe('token-2')
  })

  it('closes a provider that has no token yet for good', async () => {
    const endpoint = new ScriptedEndpoint(() => ({}))
    const pool = createTokenPool((_key: string) => tokensOf(endpoint))
    const tokens = pool.for('a')
    await close(tokens)
    expect(pool.has('a')).toBe(false)
    await expect(tokens.getToken()).rejects.toMatchObject(closed)
    expect(endpoint.requests).toHaveLength(0)
  })

  it('ends calls that wait for a provider', async () => {
    const endpoint = new ScriptedEndpoint(() => ({}))
    let provide!: (tokens: TokenProvider) => void
    const created = new Promise<TokenProvider>((resolve) => (provide = resolve))
    const pool = createTokenPool((_key: string) => created)
    const tokens = pool.for('a')
    const call = watch(tokens.getToken())
    await close(tokens)
    provide(tokensOf(endpoint))
    await pass(0)
    expect(call.error).toMatchObject(closed)
    expect(endpoint.requests).toHaveLength(0)
  })

  it('leaves the provider that replaced it after an eviction open', async () => {
    const endpoint = new ScriptedEndpoint(() => ({}))
    const pool = createTokenPool((_key: string) => tokensOf(endpoint))
    const evicted = pool.for('a')
    pool.delete('a')
    const tokens = pool.for('a')
    const { value } = await tokens.getToken()
    await close(evicted)
    expect((await tokens.getToken()).value).toBe(value)
    await expect(evicted.getToken()).rejects.toMatchObject(closed)
  })
})

it('waits for the calls of a key of a pool with `whenIdle`', async () => {
  const endpoint = new ScriptedEndpoint({ latencyMs: 300 })
  const pool = createTokenPool((_key: string) => tokensOf(endpoint))
  const tokens = pool.for('a')
  const call = watch(tokens.getToken())
  const closing = watch(tokens.close({ whenIdle: true }))
  await pass(299)
  expect(closing.state).toBe('pending')
  await pass(1)
  expect([call.value?.value, closing.state]).toEqual(['token-1', 'resolved'])
})
