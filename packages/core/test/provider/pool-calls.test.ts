import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenFetch,
  createTokenPool,
  createTokenProvider,
  type TokenProvider,
  type TokenStore,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { never, ScriptedEndpoint, tokensOf } from '../support/scripted-endpoint.ts'

useFakeTime()

/** Waits like a secret manager. */
const later = async <Value>(value: () => Value, ms = 50): Promise<Value> => {
  await new Promise((resolve) => setTimeout(resolve, ms))
  return value()
}

const ForeignPromise = runInNewContext('Promise') as PromiseConstructor

const creations = [
  ['synchronously', (tokens: () => TokenProvider) => tokens()],
  ['asynchronously', (tokens: () => TokenProvider) => later(tokens)],
  [
    'by a promise of another realm',
    (tokens: () => TokenProvider) => new ForeignPromise<TokenProvider>((resolve) => resolve(later(tokens))),
  ],
] as const

describe.each(creations)('a call to a full pool whose providers are created %s', (_how, creation) => {
  function start(maxEntries: number, latencyMs = 0) {
    const endpoint = new ScriptedEndpoint({ latencyMs })
    const create = (key: string) => creation(() => tokensOf(endpoint, { clientId: key }))
    return { endpoint, pool: createTokenPool(create as (key: string) => TokenProvider, { maxEntries }) }
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

describe('a provider that is being created', () => {
  function start(create: (key: string) => unknown) {
    return createTokenPool(create as (key: string) => TokenProvider)
  }

  it('is replaced when its key is deleted: later calls get the new credentials', async () => {
    const endpoint = new ScriptedEndpoint()
    let clientId = 'old'
    const pool = start(() => {
      const current = clientId
      return later(() => tokensOf(endpoint, { clientId: current }))
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
    const create = vi.fn((): unknown => later(() => tokensOf(new ScriptedEndpoint()), 80))
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
    const pool = start(() => later(() => tokensOf(endpoint)))
    const calls = [watch(pool.for('a').getToken()), watch(pool.for('a').getToken())]
    await pass(10)
    await pool.close()
    await pass(100)
    for (const { error } of calls) expect(error).toMatchObject({ kind: 'aborted' })
    expect(endpoint.requests).toEqual([])
  })

  it('requests no token after its own provider was closed, and the key can be used again', async () => {
    const endpoint = new ScriptedEndpoint()
    const pool = start(() => later(() => tokensOf(endpoint)))
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
    ['a text', 'tokens'],
    ['a source', { cacheKey: async () => 'key', requestToken: async () => ({}) }],
  ])('causes a configuration error that names create if it is %s', async (_name, result) => {
    const message = expect.stringContaining('create must return a token provider') as string
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
        return tokensOf(endpoint, { clientId: key })
      },
      { maxEntries: 1 },
    )
    const call = watch(pool.for('outer').getToken())
    await pass(50)
    expect([call, ...nested]).toMatchObject([{ state: 'resolved' }, { state: 'resolved' }])
  })
})

describe('a provider that is not created in time', () => {
  function start() {
    const endpoint = new ScriptedEndpoint()
    const create = vi.fn((_key: string): Promise<TokenProvider> => new Promise(() => {}))
    create.mockImplementationOnce(() => new Promise(() => {}))
    const pool = createTokenPool(create, { timeoutMs: 3_000 })
    return { endpoint, create, pool }
  }

  it('fails the calls that wait for it, and is created anew by the next one', async () => {
    const { create, endpoint, pool } = start()
    const tokens = pool.for('a')
    const calls = [watch(tokens.getToken()), watch(pool.for('a').getToken({ forceRefresh: true }))]
    await pass(2_999)
    expect(calls.map(({ state }) => state)).toEqual(['pending', 'pending'])
    await pass(1)
    for (const { error } of calls) {
      expect(error).toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining('Timed out after 3 s'),
      })
    }
    create.mockImplementation(async (key) => tokensOf(endpoint, { clientId: key }))
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-1' })
    expect(create).toHaveBeenCalledTimes(2)
  })

  it('detaches a caller whose signal is aborted, with its reason, and no other one', async () => {
    const { create, pool } = start()
    const controller = new AbortController()
    const left = watch(pool.for('a').getToken({ signal: controller.signal }))
    const token = await tokensOf(new ScriptedEndpoint()).getToken()
    const request = { url: 'https://api.example.com', attempt: 1, repeatable: true } as const
    const replaced = watch(pool.for('a').replaceRejected(token, { ...request, signal: controller.signal }))
    const fetch = async () => new Response()
    const api = createTokenFetch(pool.for('a'), { allowedOrigins: ['https://api.example.com'], fetch })
    const attached = watch(api('https://api.example.com', { signal: controller.signal }))
    const stays = watch(pool.for('a').getToken())
    const reason = new Error('left')
    controller.abort(reason)
    await pass(0)
    expect([left.error, replaced.error, attached.error]).toEqual([reason, reason, reason])
    expect(stays.state).toBe('pending')
    expect(create).toHaveBeenCalledOnce()
    await pass(3_000)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is not returned to the calls that came later, if it is created nevertheless', async () => {
    const endpoint = new ScriptedEndpoint()
    const late = new ScriptedEndpoint({ body: { access_token: 'late', expires_in: 60 } })
    const create = vi.fn(async (_key: string) => tokensOf(endpoint))
    create.mockImplementationOnce(() => later(() => tokensOf(late), 4_000))
    const pool = createTokenPool(create, { timeoutMs: 3_000 })
    const first = watch(pool.for('a').getToken())
    await pass(3_000)
    expect(first.state).toBe('rejected')
    const second = watch(pool.for('a').getToken())
    await pass(2_000)
    expect(second.value?.value).toBe('token-1')
    expect((await pool.for('a').getToken()).value).toBe('token-1')
    expect(late.requests).toEqual([])
  })
})

describe('a token that an API rejects after its key was evicted', () => {
  /** Without a digest, which fake timers do not wait for. */
  function poolWith(store: TokenStore | undefined) {
    let requests = 0
    const create = (key: string) =>
      createTokenProvider(
        {
          cacheKey: async () => key,
          requestToken: async () => ({
            accessToken: `token-${++requests}`,
            tokenType: 'Bearer',
            scope: [],
            expiresIn: 60,
          }),
        },
        { store },
      )
    return createTokenPool(create, { maxEntries: 1 })
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
    const pool = createTokenPool((_key: string) => tokensOf(new ScriptedEndpoint()), {
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
  const pool = createTokenPool((_key: string) => tokensOf(new ScriptedEndpoint(never)), { maxEntries: 1 })
  const call = watch(pool.for('a').getToken())
  pool.for('b')
  pool.delete('b')
  await pool.close()
  await pass(0)
  expect(call.error).toMatchObject({ kind: 'aborted' })
})
