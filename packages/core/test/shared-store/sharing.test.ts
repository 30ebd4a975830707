import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenProvider,
} from '@tokenwell/core'
import { pass, setWallClock, useFakeTime, watch } from '../fake-time.ts'
import { ScriptedEndpoint, sourceOf, unavailable, type Script } from '../scripted-endpoint.ts'
import { keyedSource } from './keyed-source.ts'

useFakeTime()

function fleet(size: number, script: Script = {}) {
  const endpoint = new ScriptedEndpoint(script)
  const store = createMemoryTokenStore()
  const events: TokenEvent[] = []
  const onEvent = (event: TokenEvent): void => void events.push(event)
  const providers = Array.from({ length: size }, () =>
    createTokenProvider(keyedSource(endpoint), { store, onEvent }),
  )
  return { endpoint, store, events, providers, first: providers[0]!, second: providers[1]! }
}

const valuesOf = (providers: TokenProvider[]) => providers.map((tokens) => tokens.peekToken()?.value)

describe('providers that share a store', () => {
  it('share one request', async () => {
    const { endpoint, events, providers } = fleet(20, { latencyMs: 3_000 })
    for (const tokens of providers) for (let call = 0; call < 10; call++) watch(tokens.getToken())
    await pass(3_300)
    expect(new Set(valuesOf(providers))).toEqual(new Set(['token-1']))
    expect(endpoint.requests).toHaveLength(1)
    const received = events.flatMap((event) => (event.type === 'token_received' ? [event.from] : []))
    expect(received.toSorted()).toEqual(['endpoint', ...Array<string>(19).fill('store')])
  })

  it('hold the lease for as long as the request runs', async () => {
    const { endpoint, first, second } = fleet(2, { latencyMs: 9_900 })
    const calls = [watch(first.getToken()), watch(second.getToken())]
    await pass(10_200)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1'])
    expect(endpoint.requests).toHaveLength(1)
  })

  it('find the token that another left, with the life that it has left', async () => {
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

  it('renew once: whoever is first asks, the others take that', async () => {
    const { endpoint, providers } = fleet(5, { expiresIn: 100, latencyMs: 10 })
    for (let second = 0; second < 300; second++) {
      for (const tokens of providers) watch(tokens.getToken())
      await pass(1_000)
    }
    // A life ends after 80 s at the most, a fleet of five would have made twenty.
    expect(endpoint.requests.length).toBeGreaterThanOrEqual(4)
    expect(endpoint.requests.length).toBeLessThanOrEqual(6)
  })

  it('do not take an ageing token of the store for a renewal', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    await second.getToken()
    await pass(90_000)
    await second.getToken()
    await pass(100)
    expect(second.peekToken()?.value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('do not take an expiring token of the store at all', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    await pass(96_000)
    expect((await second.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('ask anew where the store’s token has less left than a caller wants', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 1_000 })
    await first.getToken()
    await pass(500_000)
    expect((await second.getToken({ minimumValidityMs: 600_000 })).value).toBe('token-2')
    expect((await first.getToken()).value).toBe('token-1')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('ask anew for the one of several callers who wants more than the store’s token has left', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 1_000 })
    await first.getToken()
    await pass(500_000)
    const [plain, long] = [watch(second.getToken()), watch(second.getToken({ minimumValidityMs: 600_000 }))]
    await pass(250)
    expect([plain.value?.value, long.value?.value]).toEqual(['token-1', 'token-2'])
    expect(endpoint.requests).toHaveLength(2)
  })

  it('pass over the store’s copy when a refresh is forced, and leave theirs there', async () => {
    const { endpoint, store, first, second } = fleet(2)
    await first.getToken()
    expect((await second.getToken({ forceRefresh: true })).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
    expect(await store.read('key')).toMatchObject({ response: { accessToken: 'token-2' } })
  })

  it('go on by themselves when the holder fails', async () => {
    const { endpoint, first, second } = fleet(2, (request) =>
      request === 1 ? { status: 400, body: '', latencyMs: 1_000 } : {},
    )
    const [failed, other] = [watch(first.getToken()), watch(second.getToken())]
    await pass(1_300)
    expect(failed).toMatchObject({ state: 'rejected', error: { kind: 'configuration' } })
    expect(other.value?.value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('free the lease when the last caller leaves', async () => {
    const { endpoint, first, second } = fleet(2, (request) => ({ latencyMs: request === 1 ? Infinity : 0 }))
    const controller = new AbortController()
    const deserted = watch(first.getToken({ signal: controller.signal }))
    await pass(100)
    const waiting = watch(second.getToken())
    await pass(100)
    controller.abort()
    await pass(250)
    expect(deserted.state).toBe('rejected')
    expect(waiting.value?.value).toBe('token-2')
    expect(endpoint.mostInFlight).toBe(1)
  })

  it('free the lease when they are closed', async () => {
    const { first, second } = fleet(2, (request) => ({ latencyMs: request === 1 ? Infinity : 0 }))
    watch(first.getToken())
    await pass(100)
    await first.close()
    const call = watch(second.getToken())
    await pass(250)
    expect(call.value?.value).toBe('token-2')
  })

  it('take the lease of a holder that died once it has run out', async () => {
    const { endpoint, store, first } = fleet(1)
    // A process that took the lease and was never heard of again.
    await store.lease('key', 5_000)
    const call = watch(first.getToken())
    await pass(4_999)
    expect(call.state).toBe('pending')
    await pass(251)
    expect(call.value?.value).toBe('token-1')
    expect(endpoint.requests).toHaveLength(1)
  })

  it('ask by themselves once half of the call’s time was spent on waiting for others', async () => {
    const { endpoint, store, first } = fleet(1)
    await store.lease('key', 60_000)
    const call = watch(first.getToken())
    await pass(14_900)
    expect(call.state).toBe('pending')
    await pass(500)
    expect(call.value?.value).toBe('token-1')
    expect(endpoint.requests).toHaveLength(1)
  })

  it('hand a token to their callers before the store has it, and close after', async () => {
    const { store, first, second } = fleet(2)
    const lease = (await store.lease('key', 5_000))!
    const write = () => new Promise<string>((resolve) => setTimeout(() => resolve('id'), 150))
    vi.spyOn(store, 'lease').mockResolvedValueOnce({ ...lease, write })
    const call = watch(first.getToken())
    await pass(0)
    expect(call.state).toBe('resolved')
    const closed = watch(first.close())
    const other = watch(second.getToken())
    await pass(149)
    expect([closed.state, other.state]).toEqual(['pending', 'pending'])
    await pass(250)
    expect([closed.state, other.state]).toEqual(['resolved', 'resolved'])
  })

  it('leave the waiting to a caller’s own abort', async () => {
    const { store, first } = fleet(1)
    await store.lease('key', 60_000)
    const controller = new AbortController()
    const call = watch(first.getToken({ signal: controller.signal }))
    await pass(1_000)
    controller.abort('no time')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'no time' })
  })

  it('look again every 25 to 200 ms while another asks', async () => {
    const { store, first } = fleet(1)
    await store.lease('key', 60_000)
    const looks: number[] = []
    const { store: original } = fleet(1)
    vi.spyOn(store, 'read').mockImplementation((key) => {
      looks.push(Date.now())
      return original.read(key)
    })
    watch(first.getToken())
    await pass(10_000)
    const pauses = looks.slice(1).map((at, index) => at - looks[index]!)
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(25)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(201)
    expect(looks.length).toBeGreaterThan(10_000 / 200)
    await first.close()
  })

  it('of other keys share nothing', async () => {
    const endpoint = new ScriptedEndpoint()
    const store = createMemoryTokenStore()
    for (const key of ['one', 'two']) {
      const source = keyedSource(endpoint, () => Promise.resolve(key))
      await createTokenProvider(source, { store }).getToken()
    }
    expect(endpoint.requests).toHaveLength(2)
  })

  it('do not read the store on the warm path', async () => {
    const { store, first } = fleet(1)
    await first.getToken()
    store.read = () => Promise.reject(new Error('read on the warm path'))
    for (let call = 0; call < 100; call++) await first.getToken()
    expect(first.peekToken()?.value).toBe('token-1')
  })

  it('serve the token that lives while the store and the endpoint are both down', async () => {
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

  it('do not take a token whose life the wall clock says is over', async () => {
    const { endpoint, first, second } = fleet(2, { expiresIn: 100 })
    await first.getToken()
    setWallClock(100_000)
    expect((await second.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })
})

describe('the cache key of client credentials', () => {
  it('lets two providers of the same credentials share, and no others', async () => {
    const endpoint = new ScriptedEndpoint()
    const keys = await Promise.all(
      [{}, { clientSecret: () => 'secret' }, { clientSecret: 'another' }].map((options) =>
        sourceOf(endpoint, options).cacheKey(),
      ),
    )
    expect(keys[0]).toBe(keys[1])
    expect(keys[0]).not.toBe(keys[2])
  })
})
