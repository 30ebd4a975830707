import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenFetch,
  createTokenPool,
  type TokenSource,
  type TokenStore,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { never, ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

useFakeTime()

/** Waits like a secret manager. */
const later = async <Value>(value: () => Value, ms = 50): Promise<Value> => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return value()
}

const ForeignPromise = runInNewContext('Promise') as PromiseConstructor

const creations = [
  ['synchronously', (source: () => TokenSource) => source()],
  ['asynchronously', (source: () => TokenSource) => later(source)],
  [
    'by a promise of another realm',
    (source: () => TokenSource) => new ForeignPromise<TokenSource>((resolve) => resolve(later(source))),
  ],
] as const

describe.each(creations)('a call to a full pool whose sources are created %s', (_how, creation) => {
  function start(maxEntries: number, latencyMs = 0) {
    const endpoint = new ScriptedEndpoint({ latencyMs })
    const create = (key: string) => creation(() => sourceOf(endpoint, { clientId: key }))
    return { endpoint, pool: createTokenPool(create as (key: string) => TokenSource, { maxEntries }) }
  }

  it.each([
    [1, 2],
    [2, 3],
    [7, 200],
    [1_000, 1_050],
  ])('gets its token, with %d entries and %d keys at once', async (maxEntries, keys) => {
    const { pool, endpoint } = start(maxEntries, 10)
    const calls = Array.from({ length: keys }, (_, key) => watch(pool.for(`key-${key}`).getToken()))
    await pass(100)
    expect(calls.filter(({ state }) => state !== 'resolved')).toEqual([])
    expect(pool.size).toBe(maxEntries)
    expect(endpoint.cancelled).toBe(0)
  })

  it('gets its token through providers that were kept, again and again', async () => {
    const { pool } = start(10)
    const kept = Array.from({ length: 25 }, (_, key) => pool.for(`key-${key}`))
    for (let round = 0; round < 4; round++) {
      const calls = kept.map((tokens) => watch(tokens.getToken()))
      await pass(100)
      expect(calls.filter(({ state }) => state !== 'resolved')).toEqual([])
    }
  })

  it('gets its token although its key is deleted', async () => {
    const { pool } = start(10, 10)
    const call = watch(pool.for('a').getToken())
    pool.delete('a')
    await pass(100)
    expect(call.state).toBe('resolved')
    expect(pool.has('a')).toBe(false)
  })

  it('leaves no request behind when the pool is closed', async () => {
    const { endpoint, pool } = start(1, Infinity)
    const calls = ['a', 'b', 'c'].map((key) => watch(pool.for(key).getToken()))
    await pass(10)
    await pool.close()
    await pass(100)
    expect(calls.map(({ error }) => (error as { kind?: string }).kind)).toEqual(Array(3).fill('aborted'))
    expect(endpoint.inFlight).toBe(0)
  })
})

describe('a source that is being created', () => {
  function start(create: (key: string) => unknown) {
    return createTokenPool(create as (key: string) => TokenSource)
  }

  it('is replaced when its key is deleted: later calls get the new credentials', async () => {
    const endpoint = new ScriptedEndpoint()
    let clientId = 'old'
    const pool = start(() => {
      const current = clientId
      return later(() => sourceOf(endpoint, { clientId: current }))
    })
    const kept = pool.for('a')
    const first = watch(kept.getToken())
    await pass(10)
    clientId = 'new'
    expect(pool.delete('a')).toBe(true)
    const others = [watch(pool.for('a').getToken()), watch(kept.getToken())]
    await pass(100)
    expect(first.value?.value).toBe('token-1')
    expect(others.map(({ value }) => value?.value)).toEqual(['token-2', 'token-2'])
    expect(endpoint.requests.map(({ form }) => form.get('client_id'))).toEqual(['old', 'new'])
    expect((await pool.for('a').getToken()).value).toBe('token-2')
    expect(pool.size).toBe(1)
  })

  it('does not fail the key that has been created again since', async () => {
    const create = vi.fn((): unknown => later(() => sourceOf(new ScriptedEndpoint()), 80))
    create.mockImplementationOnce(() => later(() => Promise.reject(new Error('vault down'))))
    const pool = start(create)
    const first = watch(pool.for('a').getToken())
    await pass(10)
    pool.delete('a')
    const second = watch(pool.for('a').getToken())
    await pass(200)
    expect(first.error).toEqual(new Error('vault down'))
    expect(second.value?.value).toBe('token-1')
    expect(pool.has('a')).toBe(true)
    expect(create).toHaveBeenCalledTimes(2)
  })

  it('requests no token after the pool was closed', async () => {
    const endpoint = new ScriptedEndpoint()
    const pool = start(() => later(() => sourceOf(endpoint)))
    const calls = [watch(pool.for('a').getToken()), watch(pool.for('a').getToken())]
    await pass(10)
    await pool.close()
    await pass(100)
    for (const { error } of calls) expect(error).toMatchObject({ kind: 'aborted' })
    expect(endpoint.requests).toEqual([])
  })

  it('requests no token after its own provider was closed, and the key can be used again', async () => {
    const endpoint = new ScriptedEndpoint()
    const pool = start(() => later(() => sourceOf(endpoint)))
    const tokens = pool.for('a')
    const call = watch(tokens.getToken())
    await pass(10)
    await tokens.close()
    const again = watch(pool.for('a').getToken())
    await pass(100)
    expect(call.error).toMatchObject({ kind: 'aborted' })
    expect(again.value?.value).toBe('token-1')
    expect(endpoint.requests).toHaveLength(1)
  })

  it.each([
    ['nothing', undefined],
    ['a text', 'source'],
    ['an object without requestToken', { getToken: async () => ({}) }],
  ])('causes a configuration error that names create if it is %s', async (_name, result) => {
    const message = expect.stringContaining('create must return a token source') as string
    for (const create of [() => result, async () => result]) {
      const pool = start(create)
      await expect(pool.for('a').getToken()).rejects.toMatchObject({ kind: 'configuration', message })
      expect(pool.size).toBe(0)
    }
  })

  it('may evict its own key', async () => {
    const endpoint = new ScriptedEndpoint({ latencyMs: 10 })
    const nested: unknown[] = []
    const pool = createTokenPool(
      (key: string) => {
        if (key === 'outer') nested.push(watch(pool.for('inner').getToken()))
        return sourceOf(endpoint, { clientId: key })
      },
      { maxEntries: 1 },
    )
    const call = watch(pool.for('outer').getToken())
    await pass(50)
    expect([call, ...nested]).toMatchObject([{ state: 'resolved' }, { state: 'resolved' }])
  })
})

describe('a token that an API rejects after its key was evicted', () => {
  /** Without a digest, which fake timers do not wait for. */
  function poolWith(store: TokenStore | undefined) {
    let requests = 0
    const create = (key: string): TokenSource => ({
      cacheKey: async () => key,
      requestToken: async () => ({
        accessToken: `token-${++requests}`,
        tokenType: 'Bearer',
        scope: [],
        expiresIn: 60,
      }),
    })
    return createTokenPool(create, { maxEntries: 1, store })
  }

  it.each([
    ['without a store', undefined],
    ['with a store', createMemoryTokenStore()],
  ])('is replaced, %s', async (_name, store) => {
    const pool = poolWith(store)
    const sent: string[] = []
    let revoked = ''
    const fetch = async (_url: unknown, init?: RequestInit): Promise<Response> => {
      const token = new Headers(init?.headers).get('authorization')!.slice('Bearer '.length)
      sent.push(token)
      await new Promise((resolve) => setTimeout(resolve, 20))
      return new Response('', { status: token === revoked ? 401 : 200 })
    }
    const api = createTokenFetch(({ url }) => pool.for(url.pathname), {
      allowedOrigins: ['https://api.example.com'],
      fetch,
    })
    const first = watch(api('https://api.example.com/a'))
    await pass(1_000)
    expect(first.value?.status).toBe(200)
    revoked = sent[0]!
    const second = watch(api('https://api.example.com/a'))
    await pass(5)
    await pool.for('/b').getToken()
    await pass(2_000)
    expect(second.value?.status).toBe(200)
    expect(sent).toEqual([revoked, revoked, 'token-3'])
  })

  it('is not returned by its store again if it was reported by `reject`', async () => {
    const pool = poolWith(createMemoryTokenStore())
    const tokens = pool.for('a')
    const rejected = await tokens.getToken()
    await pass(100)
    pool.for('b')
    tokens.reject(rejected)
    const call = watch(tokens.getToken())
    await pass(1_000)
    expect(call.value?.value).toBe('token-2')
  })

  it('is reported in an event', async () => {
    const events = vi.fn()
    const pool = createTokenPool((_key: string) => sourceOf(new ScriptedEndpoint()), {
      maxEntries: 1,
      onEvent: events,
    })
    const tokens = pool.for('a')
    const rejected = await tokens.getToken()
    pool.for('b')
    const request = { url: 'https://api.example.com/v1', attempt: 1, repeatable: true } as const
    const next = await tokens.replaceRejected(rejected, request)
    expect(next?.value).not.toBe(rejected)
    expect(events).toHaveBeenCalledWith(
      expect.objectContaining({ type: 'token_rejected', key: 'a', origin: 'https://api.example.com' }),
    )
  })
})

it('a pool of which one key never gets a token can be closed', async () => {
  const pool = createTokenPool((_key: string) => sourceOf(new ScriptedEndpoint(never)), { maxEntries: 1 })
  const call = watch(pool.for('a').getToken())
  pool.for('b')
  pool.delete('b')
  await pool.close()
  await pass(0)
  expect(call.error).toMatchObject({ kind: 'aborted' })
})
