import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenLease,
  type TokenStore,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../fake-time.ts'
import { ScriptedEndpoint, type Script } from '../scripted-endpoint.ts'
import { keyedSource } from './keyed-source.ts'

useFakeTime()

const forever = (): Promise<never> => new Promise(() => {})
const failing = (): Promise<never> =>
  Promise.reject(Object.assign(new Error('canary'), { code: 'ECONNRESET' }))
const throwing = (): never => {
  throw new TypeError('canary')
}

/** A memory store in which some operations, of the store or of its leases, are others. */
function sick(changes: Partial<TokenStore & TokenLease>): TokenStore {
  const memory = createMemoryTokenStore()
  const lease: TokenStore['lease'] = async (key, ttlMs) => {
    const held = await memory.lease(key, ttlMs)
    return held && { ...held, ...changes }
  }
  return { ...memory, lease, ...changes }
}

function start(store: TokenStore, script: Script = {}) {
  const endpoint = new ScriptedEndpoint(script)
  const events: TokenEvent[] = []
  const tokens = createTokenProvider(keyedSource(endpoint), { store, onEvent: (event) => events.push(event) })
  return { endpoint, events, tokens }
}

const operations = ['read', 'lease', 'write', 'release'] as const

describe.each(operations)('a store whose %s', (operation) => {
  it.each([
    ['hangs', forever, 'slow'],
    ['fails', failing, 'ECONNRESET'],
    ['throws at once', throwing, 'TypeError'],
  ])('%s costs a call 250 ms at most, and an event says so', async (_name, fault, cause) => {
    const { endpoint, events, tokens } = start(sick({ [operation]: fault }))
    const calls = [watch(tokens.getToken()), watch(tokens.getToken())]
    await pass(250)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1'])
    expect(endpoint.requests).toHaveLength(1)
    expect(events).toContainEqual({ type: 'store_unavailable', operation, cause })
    expect(JSON.stringify(events)).not.toContain('canary')
  })
})

describe('a sick store', () => {
  it('that is slow at every step costs a call 250 ms at most', async () => {
    const late = () => new Promise((resolve) => setTimeout(resolve, 90))
    const memory = createMemoryTokenStore()
    const { tokens } = start({
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
    await pass(250)
    expect(call.value?.value).toBe('token-1')
  })

  it('is left alone for a while, by all who share it, and then tried again', async () => {
    const read = vi.fn(failing)
    const store = sick({ read })
    const { tokens } = start(store, { expiresIn: 0.5 })
    const { tokens: other } = start(store, { expiresIn: 0.5 })
    await tokens.getToken()
    expect(read).toHaveBeenCalledTimes(1)
    await pass(990)
    await tokens.getToken()
    await other.getToken()
    expect(read).toHaveBeenCalledTimes(1)
    await pass(20)
    await other.getToken({ forceRefresh: true })
    expect(read).toHaveBeenCalledTimes(2)
  })

  it('is tried ever more rarely while it stays sick: every 30 s at the rarest', async () => {
    const tries: number[] = []
    const read = () => {
      tries.push(Date.now())
      return failing()
    }
    const { tokens } = start(sick({ read }))
    for (let tick = 0; tick < 3_000; tick++) {
      await tokens.getToken({ forceRefresh: true })
      await pass(100)
    }
    const pauses = tries.slice(1).map((at, index) => Math.round((at - tries[index]!) / 1000))
    expect(pauses.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 30, 30, 30])
  })

  it('that got well serves the fleet again', async () => {
    const memory = createMemoryTokenStore()
    let well = false
    const store = sick({
      read: (key) => (well ? memory.read(key) : failing()),
      lease: (...of) => memory.lease(...of),
    })
    const { tokens } = start(store)
    await tokens.getToken()
    well = true
    await pass(1_000)
    await tokens.getToken({ forceRefresh: true })
    const { endpoint, tokens: other } = start(store)
    await other.getToken()
    expect(endpoint.requests).toHaveLength(0)
  })

  it('leaves a process its single flight', async () => {
    const { endpoint, tokens } = start(sick({ read: failing }), { latencyMs: 100 })
    const calls = Array.from({ length: 200 }, () => watch(tokens.getToken()))
    await pass(100)
    expect(calls.every(({ state }) => state === 'resolved')).toBe(true)
    expect(endpoint.requests).toHaveLength(1)
  })

  it('whose lease comes too late gets it back', async () => {
    const release = vi.fn(() => Promise.resolve())
    const memory = createMemoryTokenStore()
    const { tokens } = start({
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
    ['throws at once', throwing],
    ['says the lease is lost', () => Promise.resolve(false)],
    ['gives no promise', () => true as never],
  ])('whose extension of a lease %s disturbs nobody', async (_name, extend) => {
    const { tokens } = start(sick({ extend }), { latencyMs: 9_000 })
    const call = watch(tokens.getToken())
    await pass(9_100)
    expect(call.value?.value).toBe('token-1')
  })

  it('says so once for the whole of a call', async () => {
    const { events, tokens } = start(sick({ read: failing, write: failing, lease: failing }))
    await tokens.getToken()
    expect(events.filter(({ type }) => type === 'store_unavailable')).toHaveLength(1)
  })
})

describe('a store that answers rubbish', () => {
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
    [{ heldForMs: 1_000 }],
    [{ heldForMs: 1_000, error: null }],
    [{ heldForMs: 1_000, error: 'denied' }],
    [{ heldForMs: 'long', error: { kind: 'credentials', message: 'held' } }],
  ])('such as %j to a read is passed over', async (answer) => {
    const { tokens } = start(sick({ read: () => Promise.resolve(answer as never) }))
    const call = watch(tokens.getToken())
    await pass(250)
    expect(call.value?.value).toBe('token-1')
  })

  it('gives no token a longer life than the token says of itself', async () => {
    const answer = { ...stored, remainingMs: 1e15 }
    const { tokens } = start(sick({ read: () => Promise.resolve(answer as never) }))
    const token = await tokens.getToken()
    expect(token.value).toBe('stored')
    expect(token.expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(3_600_000)
  })

  it.each([['text'], [{}], [[]], [{ release: 1 }], [true]])(
    'such as %j to a lease is passed over',
    async (answer) => {
      const { tokens } = start(sick({ lease: () => Promise.resolve(answer as never) }))
      const call = watch(tokens.getToken())
      await pass(500)
      expect(call.value?.value).toBe('token-1')
    },
  )

  it.each([[undefined], [null], [42], [{}]])('such as %j to a write is passed over', async (answer) => {
    const { tokens } = start(sick({ write: () => Promise.resolve(answer as never) }))
    const token = await tokens.getToken()
    tokens.reject(token)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
  })
})

describe('a cache key', () => {
  it.each([
    ['fails', failing],
    ['throws at once', throwing],
  ])('that %s fails nobody: the endpoint is asked without the store', async (_name, cacheKey) => {
    const endpoint = new ScriptedEndpoint()
    const read = vi.fn(() => Promise.resolve(undefined))
    const tokens = createTokenProvider(keyedSource(endpoint, cacheKey), { store: sick({ read }) })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-1' })
    tokens.reject(tokens.peekToken()!)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
    expect(read).not.toHaveBeenCalled()
  })

  it('that hangs holds up neither callers nor renewals nor close for ever', async () => {
    const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
    let hang = false
    const cacheKey = () => (hang ? forever() : Promise.resolve('key'))
    const tokens = createTokenProvider(keyedSource(endpoint, cacheKey), { store: createMemoryTokenStore() })
    await tokens.getToken()
    await pass(85_000)
    hang = true
    await tokens.getToken()
    await pass(100_000)
    const call = watch(tokens.getToken())
    await pass(12_000)
    expect(call.state).toBe('resolved')
    tokens.reject(tokens.peekToken()!)
    watch(tokens.getToken())
    await pass(10)
    const closed = watch(tokens.close())
    await pass(10)
    expect(closed.state).toBe('resolved')
  })
})
