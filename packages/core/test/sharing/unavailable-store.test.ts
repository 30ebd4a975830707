import { describe, expect, it, vi } from 'vitest'
import { createMemoryTokenStore, createTokenProvider } from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts'
import { keyedSource, failing, forever, startWith, storeWith, throwing } from './sharing-providers.ts'

useFakeTime()

const operations = ['read', 'lease', 'write', 'release'] as const

describe.each(operations)('a store with a broken %s', (operation) => {
  it.each([
    ['hangs', forever, 'slow'],
    ['fails', failing, 'ECONNRESET'],
    ['throws synchronously', throwing, 'TypeError'],
  ])('delays a call by at most 250 ms if it %s, and emits an event', async (_name, fault, cause) => {
    const { endpoint, events, tokens } = startWith(storeWith({ [operation]: fault }))
    const calls = [watch(tokens.getToken()), watch(tokens.getToken())]
    await pass(250)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1'])
    expect(endpoint.requests).toHaveLength(1)
    expect(events).toContainEqual({ type: 'store_unavailable', operation, cause })
    expect(JSON.stringify(events)).not.toContain('canary')
  })
})

describe('a store that cannot share a failure', () => {
  it.each([
    ['hangs', forever, 'slow'],
    ['fails', failing, 'ECONNRESET'],
    ['throws synchronously', throwing, 'TypeError'],
  ])('delays it by at most 250 ms if it %s, and emits an event', async (_name, writeCooldown, cause) => {
    const store = storeWith({ writeCooldown })
    const { events, tokens } = startWith(store, { status: 401, body: { error: 'invalid_client' } })
    const call = watch(tokens.getToken())
    await pass(250)
    expect(call.error).toMatchObject({ kind: 'credentials', oauthError: 'invalid_client' })
    expect(events).toContainEqual({ type: 'store_unavailable', operation: 'cooldown', cause })
  })
})

describe('a slow or failing store', () => {
  it('is used if every operation is slow but succeeds', async () => {
    const late = () => new Promise((resolve) => setTimeout(resolve, 90))
    const memory = createMemoryTokenStore()
    const { tokens } = startWith({
      ...memory,
      read: (key) => late().then(() => memory.read(key)),
      lease: async (key, ttlMs) => {
        await late()
        const lease = (await memory.lease(key, ttlMs))!
        return {
          ...lease,
          write: (...of) => late().then(() => lease.write(...of)),
          release: () => late().then(() => lease.release()),
        }
      },
    })
    const call = watch(tokens.getToken())
    await pass(280)
    expect(call.value?.value).toBe('token-1')
    await pass(1_000)
    expect(await memory.read('key')).toMatchObject({ response: { accessToken: 'token-1' } })
  })

  it('is reported with the time that it took', async () => {
    const memory = createMemoryTokenStore()
    const lease = (await memory.lease('key', 1_000))!
    await lease.write({ accessToken: 'stored', tokenType: 'Bearer', expiresIn: 3_600, scope: [] }, 3_600_000)
    const { events, tokens } = startWith({
      ...memory,
      read: async (key) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return memory.read(key)
      },
    })
    await pass(10_000)
    const call = watch(tokens.getToken())
    await pass(100)
    expect(call.value?.value).toBe('stored')
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'token_received', from: 'store', durationMs: 50 }),
    )
  })

  it('is paused for all providers that share it, and then used again', async () => {
    const lease = vi.fn(failing)
    const store = storeWith({ lease })
    const { tokens } = startWith(store, { expiresIn: 0.5 })
    const { tokens: other } = startWith(store, { expiresIn: 0.5 })
    const otherKey = createTokenProvider(
      keyedSource(new ScriptedEndpoint({}), () => Promise.resolve('other key')),
      { store },
    )
    await tokens.getToken()
    expect(lease).toHaveBeenCalledTimes(1)
    await pass(990)
    await otherKey.getToken()
    await tokens.getToken()
    await other.getToken()
    expect(lease).toHaveBeenCalledTimes(1)
    await pass(20)
    await other.getToken({ forceRefresh: true })
    expect(lease).toHaveBeenCalledTimes(2)
  })

  it('is paused for all keys if it hangs after it has responded', async () => {
    const lease = vi.fn(forever)
    const store = storeWith({ lease })
    const endpoint = new ScriptedEndpoint()
    const use = (key: string) =>
      watch(
        createTokenProvider(
          keyedSource(endpoint, () => Promise.resolve(key)),
          { store },
        ).getToken(),
      )
    use('key')
    await pass(250)
    const call = use('other key')
    await pass(0)
    expect(call.value?.value).toBe('token-2')
    expect(lease).toHaveBeenCalledOnce()
  })

  it('is tried less often while it keeps failing: at least every 30 s', async () => {
    const tries: number[] = []
    const lease = () => {
      tries.push(Date.now())
      return failing()
    }
    const { tokens } = startWith(storeWith({ lease }))
    for (let tick = 0; tick < 3_000; tick++) {
      await tokens.getToken({ forceRefresh: true })
      await pass(100)
    }
    const pauses = tries.slice(1).map((at, index) => Math.round((at - tries[index]!) / 1000))
    expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
  })

  it('is paused for a second after failures that arrive together', async () => {
    const lease = vi.fn(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return failing()
    })
    const store = storeWith({ lease })
    const providers = Array.from({ length: 5 }, () => startWith(store).tokens)
    for (const tokens of providers) watch(tokens.getToken())
    await pass(1_100)
    expect(lease).toHaveBeenCalledTimes(5)
    watch(providers[0]!.getToken({ forceRefresh: true }))
    await pass(100)
    expect(lease).toHaveBeenCalledTimes(6)
  })

  it.each(['store', 'key'])('is paused for a second if the %s recovers and fails again', async (scope) => {
    const memory = createMemoryTokenStore()
    let works = false
    const fails = () => Promise.reject(Object.assign(new Error('canary'), { scope }))
    const lease = vi.fn((key: string, ttlMs: number) => (works ? memory.lease(key, ttlMs) : fails()))
    const { tokens } = startWith(storeWith({ lease }))
    for (let failures = 0; failures < 5; failures++) {
      await tokens.getToken({ forceRefresh: true })
      await pass(30_000)
    }
    works = true
    await tokens.getToken({ forceRefresh: true })
    await pass(30_000)
    works = false
    await tokens.getToken({ forceRefresh: true })
    lease.mockClear()
    await pass(1_000)
    await tokens.getToken({ forceRefresh: true })
    expect(lease).toHaveBeenCalledOnce()
  })

  it('gets its lease back even if it fails to write the token', async () => {
    const release = vi.fn(() => Promise.resolve())
    const { tokens } = startWith(storeWith({ write: failing, release }))
    await tokens.getToken()
    await pass(10)
    expect(release).toHaveBeenCalledOnce()
  })

  it('serves the fleet again after it has recovered, and one event reports that', async () => {
    const memory = createMemoryTokenStore()
    let works = false
    const store = storeWith({
      read: (key) => (works ? memory.read(key) : failing()),
      lease: (...of) => memory.lease(...of),
    })
    const { events, tokens } = startWith(store)
    await tokens.getToken()
    works = true
    await pass(1_000)
    await tokens.getToken({ forceRefresh: true })
    const { endpoint, events: others, tokens: other } = startWith(store)
    await other.getToken()
    expect(endpoint.requests).toHaveLength(0)
    const types = [...events, ...others].map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('store_'))).toEqual([
      'store_unavailable',
      'store_recovered',
    ])
  })

  it('does not prevent single-flight in a process', async () => {
    const { endpoint, tokens } = startWith(storeWith({ read: failing }), { latencyMs: 100 })
    const calls = Array.from({ length: 200 }, () => watch(tokens.getToken()))
    await pass(100)
    expect(calls.every(({ state }) => state === 'resolved')).toBe(true)
    expect(endpoint.requests).toHaveLength(1)
  })

  it('gets back a lease that was granted too late', async () => {
    const release = vi.fn(() => Promise.resolve())
    const memory = createMemoryTokenStore()
    const { tokens } = startWith({
      ...memory,
      lease: async (key, ttlMs) => {
        await new Promise((resolve) => setTimeout(resolve, 1_000))
        const lease = await memory.lease(key, ttlMs)
        return lease && { ...lease, release }
      },
    })
    const call = watch(tokens.getToken())
    await pass(1_000)
    expect(call.state).toBe('resolved')
    expect(release).toHaveBeenCalledOnce()
  })

  it.each([
    ['hangs', forever],
    ['fails', failing],
    ['throws synchronously', throwing],
    ['reports a lost lease', () => Promise.resolve(false)],
    ['returns no promise', () => true as never],
  ])('affects no caller if extending a lease %s', async (_name, extend) => {
    const { tokens } = startWith(storeWith({ extend }), { latencyMs: 9_000 })
    const call = watch(tokens.getToken())
    await pass(9_100)
    expect(call.value?.value).toBe('token-1')
  })

  it('causes no request for a caller that left while a read hangs', async () => {
    const { endpoint, tokens } = startWith(storeWith({ read: forever }), { latencyMs: 100 })
    const controller = new AbortController()
    const left = watch(tokens.getToken({ signal: controller.signal }))
    await pass(10)
    controller.abort()
    const call = watch(tokens.getToken())
    await pass(1_000)
    expect([left.state, call.state]).toEqual(['rejected', 'resolved'])
    expect(endpoint.requests).toHaveLength(1)
  })

  it('causes no request under the lease for a caller that left', async () => {
    const memory = createMemoryTokenStore()
    let reads = 0
    const read = (key: string) => (++reads === 2 ? new Promise<never>(() => {}) : memory.read(key))
    const { endpoint, tokens } = startWith({ ...memory, read })
    const controller = new AbortController()
    const left = watch(tokens.getToken({ signal: controller.signal }))
    await pass(10)
    controller.abort()
    const call = watch(tokens.getToken())
    await pass(2_000)
    expect([left.state, call.state]).toEqual(['rejected', 'resolved'])
    expect(endpoint.requests).toHaveLength(1)
  })

  it('does not return a token to a provider that was closed in the meantime', async () => {
    const response = { accessToken: 'stored', tokenType: 'Bearer', expiresIn: 3_600, scope: [] } as const
    const read = async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return { id: 'id', response, remainingMs: 3_000_000 }
    }
    const { tokens } = startWith(storeWith({ read }))
    const call = watch(tokens.getToken())
    await pass(10)
    const closed = watch(tokens.close())
    await pass(1_000)
    expect([call.state, closed.state]).toEqual(['rejected', 'resolved'])
    expect(tokens.peekToken()).toBeUndefined()
  })

  it('is reported once per call', async () => {
    const { events, tokens } = startWith(storeWith({ read: failing, write: failing, lease: failing }))
    await tokens.getToken()
    expect(events.filter(({ type }) => type === 'store_unavailable')).toHaveLength(1)
  })

  it('that responds for other keys is used for them while one key hangs', async () => {
    const memory = createMemoryTokenStore()
    const store = {
      ...memory,
      read: async (key: string) => {
        await new Promise((resolve) => setTimeout(resolve, key === 'sick' ? 1e6 : 10))
        return memory.read(key)
      },
    }
    const endpoint = new ScriptedEndpoint()
    const open = (key: string) =>
      createTokenProvider(
        keyedSource(endpoint, () => Promise.resolve(key)),
        { store },
      )
    watch(open('well').getToken())
    await pass(300)
    const [sick, well] = [watch(open('sick').getToken()), open('well')]
    await pass(100)
    const first = watch(well.getToken())
    await pass(200)
    const second = watch(open('well').getToken())
    await pass(100)
    expect([sick, first, second].map(({ value }) => value?.value)).toEqual(['token-2', 'token-1', 'token-1'])
  })

  it('that fails for single keys is paused for the 1,000 that failed last', async () => {
    const read = vi.fn((_key: string) => Promise.reject(Object.assign(new Error('canary'), { scope: 'key' })))
    const store = storeWith({ read })
    const endpoint = new ScriptedEndpoint()
    const use = (key: number) =>
      createTokenProvider(
        keyedSource(endpoint, () => Promise.resolve(String(key))),
        { store },
      ).getToken()
    for (let key = 0; key <= 1_000; key++) await use(key)
    read.mockClear()
    await use(1)
    await use(0)
    expect(read.mock.calls).toEqual([['0']])
  })

  it('that hangs delays 1,000 providers that start at once by at most 250 ms', async () => {
    const read = vi.fn(forever)
    const store = storeWith({ read })
    const providers = Array.from({ length: 1_000 }, () => startWith(store))
    const calls = providers.map(({ tokens }) => watch(tokens.getToken()))
    await pass(250)
    expect(calls.filter(({ state }) => state !== 'resolved')).toEqual([])
    expect(read.mock.calls.length).toBeLessThanOrEqual(400)
  })

  it('makes no caller that waits for its turn start again', async () => {
    const store = storeWith({ read: forever })
    for (let count = 0; count < 400; count++) watch(startWith(store).tokens.getToken())
    const { events, tokens } = startWith(store, {}, { attemptTimeoutMs: 500 })
    watch(tokens.getToken())
    await pass(2_000)
    expect(events).toContainEqual(expect.objectContaining({ type: 'token_received', requestId: 1 }))
  })
})
