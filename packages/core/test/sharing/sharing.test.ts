import { describe, expect, it } from 'vitest'
import { createMemoryTokenStore, createTokenProvider, type TokenProvider } from '@tokenwell/core'
import { pass, setWallClock, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, unavailable } from '../support/scripted-endpoint.ts'
import { fleet, keyedSource, startWith, storeWith } from './sharing-providers.ts'

useFakeTime()

const valuesOf = (providers: TokenProvider[]) => providers.map((tokens) => tokens.peekToken()?.value)

describe('providers that share a store', () => {
  it('share one request', async () => {
    const { endpoint, events, providers } = fleet(20, { latencyMs: 900 })
    for (const tokens of providers) for (let call = 0; call < 10; call++) watch(tokens.getToken())
    await pass(1_800)
    expect(new Set(valuesOf(providers))).toEqual(new Set(['token-1']))
    expect(endpoint.requests).toHaveLength(1)
    const received = events.flatMap((event) => (event.type === 'token_received' ? [event.from] : []))
    expect(received.toSorted()).toEqual(['endpoint', ...Array<string>(19).fill('store')])
  })

  it('report calls that waited for the request of another process', async () => {
    const { events, first, second } = fleet(2, { latencyMs: 900 })
    for (const tokens of [first, second]) watch(tokens.getToken())
    await pass(1_800)
    const causes = events.flatMap((event) => (event.type === 'call_settled' ? [event.waitedFor] : []))
    expect(causes).toEqual(['token_request', 'other_process'])
  })

  it('find the token of another process with its remaining lifetime', async () => {
    const { first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    await pass(60_000)
    const token = await second.getToken()
    expect(token.expiresAt.getTime() - Date.now()).toBe(40_000)
    await pass(34_999)
    expect(second.peekToken()).toBeDefined()
    await pass(1)
    expect(second.peekToken()).toBeUndefined()
  })

  it('refresh once: the first one requests a token, the others use it', async () => {
    const { endpoint, providers } = fleet(5, { expiresIn: 100, latencyMs: 10 })
    for (let second = 0; second < 300; second++) {
      for (const tokens of providers) watch(tokens.getToken())
      await pass(1_000)
    }
    // A token is used for at most 80 s; five separate processes would make twenty requests.
    expect(endpoint.requests.length).toBeGreaterThanOrEqual(4)
    expect(endpoint.requests.length).toBeLessThanOrEqual(6)
  })

  it('do not accept a stored token that is due for refresh as a refresh', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    await second.getToken()
    await pass(90_000)
    await second.getToken()
    await pass(100)
    expect(second.peekToken()?.value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('ignore an expiring token in the store', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    await pass(96_000)
    expect((await second.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('request a new token if the stored one expires too soon for a caller', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 1_000 })
    await first.getToken()
    await pass(500_000)
    expect((await second.getToken({ minimumValidityMs: 600_000 })).value).toBe('token-2')
    expect((await first.getToken()).value).toBe('token-1')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('request a new token for a caller that requires a longer remaining lifetime', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 1_000 })
    await first.getToken()
    await pass(500_000)
    const [plain, long] = [watch(second.getToken()), watch(second.getToken({ minimumValidityMs: 600_000 }))]
    await pass(250)
    expect([plain.value?.value, long.value?.value]).toEqual(['token-1', 'token-2'])
    expect(endpoint.requests).toHaveLength(2)
  })

  it('ignore the stored token when a refresh is forced, and store the new one', async () => {
    const { endpoint, store, first, second } = fleet(2)
    await first.getToken()
    expect((await second.getToken({ forceRefresh: true })).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
    expect(await store.read('key')).toMatchObject({ response: { accessToken: 'token-2' } })
  })

  it('ignore the stored token after a reset, and store the new one', async () => {
    const { endpoint, store, first, second } = fleet(2)
    await first.getToken()
    await second.getToken()
    second.reset()
    expect((await second.getToken()).value).toBe('token-2')
    expect(await store.read('key')).toMatchObject({ response: { accessToken: 'token-2' } })
    expect(endpoint.requests).toHaveLength(2)
  })

  it('with different keys share nothing', async () => {
    const endpoint = new ScriptedEndpoint()
    const store = createMemoryTokenStore()
    for (const key of ['one', 'two']) {
      const source = keyedSource(endpoint, () => Promise.resolve(key))
      await createTokenProvider(source, { store }).getToken()
    }
    expect(endpoint.requests).toHaveLength(2)
  })

  it('do not read the store while they have a fresh token', async () => {
    const { store, first } = fleet(1)
    await first.getToken()
    store.read = () => Promise.reject(new Error('read on the warm path'))
    for (let call = 0; call < 100; call++) await first.getToken()
    expect(first.peekToken()?.value).toBe('token-1')
  })

  it('return the valid token while the store and the endpoint are down', async () => {
    const { endpoint, store, first } = fleet(1, { expiresIn: 1_000 })
    await first.getToken()
    await pass(850_000)
    endpoint.script = unavailable
    store.read = () => Promise.reject(new Error('down'))
    for (let second = 0; second < 100; second++) {
      expect((await first.getToken()).value).toBe('token-1')
      await pass(1_000)
    }
  })

  it('do not use a token that has expired by the wall clock', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    setWallClock(100_000)
    expect((await second.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })
})

describe('a store that returns invalid entries', () => {
  const response = { accessToken: 'stored', tokenType: 'Bearer', expiresIn: 3_600, scope: [] }
  const stored = { id: 'id', response, remainingMs: 3_000_000 }
  it.each<[unknown]>([
    [null],
    [0],
    ['text'],
    [[]],
    [{}],
    [{ id: 'id' }],
    [{ ...stored, response: null }],
    [{ ...stored, response: 'token' }],
    [{ ...stored, response: {} }],
    [{ ...stored, response: { ...response, accessToken: '' } }],
    [{ ...stored, response: { ...response, accessToken: 'a\r\nX-Evil: 1' } }],
    [{ ...stored, remainingMs: Number.NaN }],
    [{ ...stored, remainingMs: -1 }],
    [{ ...stored, remainingMs: '3000000' }],
    [{ cooldownMs: 1_000 }],
    [{ cooldownMs: 1_000, error: null }],
    [{ cooldownMs: 1_000, error: 'denied' }],
    [{ cooldownMs: 'long', error: { kind: 'credentials', message: 'invalid' } }],
    [{ cooldownMs: '1000', error: { kind: 'credentials', message: 'invalid' } }],
    [{ cooldownMs: 1_000, error: { kind: 'aborted', message: 'closed' } }],
    [{ cooldownMs: 1_000, error: { kind: 'of another version', message: 'new' } }],
    [{ cooldownMs: 1_000, error: { kind: 'toString', message: 'new' } }],
    [{ cooldownMs: 1_000, error: { message: 'of no kind' } }],
    [{ cooldownMs: -1, error: { kind: 'credentials', message: 'expired' } }],
  ])('such as %j from a read are ignored', async (entry) => {
    const { tokens } = startWith(storeWith({ read: () => Promise.resolve(entry as never) }))
    const call = watch(tokens.getToken())
    await pass(250)
    expect(call.value?.value).toBe('token-1')
  })

  it('never extends the lifetime of a token', async () => {
    const entry = { ...stored, remainingMs: 1e15 }
    const { tokens } = startWith(storeWith({ read: () => Promise.resolve(entry as never) }))
    const token = await tokens.getToken()
    expect(token.value).toBe('stored')
    expect(token.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(3_600_000)
  })

  it.each([['text'], [{}], [[]], [{ release: 1 }], [true]])(
    'such as %j from a lease are ignored, and an event is emitted',
    async (entry) => {
      const { events, tokens } = startWith(storeWith({ lease: () => Promise.resolve(entry as never) }))
      const call = watch(tokens.getToken())
      await pass(500)
      expect(call.value?.value).toBe('token-1')
      expect(events).toContainEqual({
        type: 'store_unavailable',
        operation: 'lease',
        cause: 'invalid_lease',
      })
    },
  )

  it.each([[undefined], [null], [42], [{}]])('such as %j from a write are ignored', async (entry) => {
    const { tokens } = startWith(storeWith({ write: () => Promise.resolve(entry as never) }))
    const token = await tokens.getToken()
    tokens.reject(token)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
  })
})
