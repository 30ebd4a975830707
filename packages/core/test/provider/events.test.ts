import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it, vi } from 'vitest'
import { createTokenProvider, type TokenEvent } from '@tokenwell/core'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import {
  ScriptedEndpoint,
  sourceOf,
  unavailable,
  wrongSecret,
  type Script,
} from '../support/scripted-endpoint.ts'

useFakeTime()

function listened(script: Script) {
  const events: TokenEvent[] = []
  const endpoint = new ScriptedEndpoint(script)
  const tokens = createTokenProvider(sourceOf(endpoint), { onEvent: (event) => events.push(event) })
  return { endpoint, events, tokens }
}

describe('events', () => {
  it('report a request and its token', async () => {
    const { events, tokens } = listened({ latencyMs: 100 })
    const call = tokens.getToken()
    await pass(100)
    await call
    expect(events).not.toContainEqual(expect.objectContaining({ key: undefined }))
    expect(events).toEqual([
      { type: 'token_requested', requestId: 1, reason: 'first', attempt: 1, label: 'client' },
      {
        type: 'token_received',
        requestId: 1,
        reason: 'first',
        attempt: 1,
        from: 'endpoint',
        durationMs: 100,
        remainingMs: 3_599_900,
        label: 'client',
      },
      { type: 'call_settled', durationMs: 100, waitedFor: 'token_request', requestId: 1, label: 'client' },
    ])
  })

  it('have no label without one', async () => {
    const events: TokenEvent[] = []
    const requestToken = async () => ({ accessToken: 'a-token', tokenType: 'Bearer', scope: [] }) as const
    const tokens = createTokenProvider(
      { cacheKey: async () => 'key', requestToken },
      { onEvent: (event) => events.push(event) },
    )
    await tokens.getToken()
    expect(events).toHaveLength(4)
    expect(events.filter((event) => 'label' in event)).toEqual([])
  })

  it('report each attempt, its failure, and the time of the next attempt', async () => {
    fixRandom(0.5)
    const { events, tokens } = listened((request) => (request === 1 ? unavailable : wrongSecret))
    const call = watch(tokens.getToken())
    await pass(10_000)
    expect(call.state).toBe('rejected')
    expect(events).toMatchObject([
      { type: 'token_requested', requestId: 1, attempt: 1 },
      { type: 'token_failed', requestId: 1, attempt: 1, kind: 'unavailable', status: 503, durationMs: 0 },
      { type: 'token_requested', requestId: 1, attempt: 2 },
      {
        type: 'token_failed',
        requestId: 1,
        attempt: 2,
        kind: 'credentials',
        status: 401,
        oauthError: 'invalid_client',
      },
      { type: 'call_settled', waitedFor: 'token_request', kind: 'credentials' },
    ])
    expect((events[1] as { retryInMs?: number }).retryInMs).toBeGreaterThan(0)
    expect((events[3] as { retryInMs?: number }).retryInMs).toBeUndefined()
  })

  it('report a request that was cancelled by its callers or by closing the provider', async () => {
    const { events, tokens } = listened({ latencyMs: 100 })
    const leaving = new AbortController()
    const left = watch(tokens.getToken({ signal: leaving.signal }))
    await pass(30)
    leaving.abort()
    await pass(0)
    const closed = watch(tokens.getToken())
    await pass(50)
    await tokens.close()
    await pass(0)
    expect([left.state, closed.state]).toEqual(['rejected', 'rejected'])
    const aborted = { type: 'token_failed', reason: 'first', attempt: 1, kind: 'aborted' }
    const settled = { type: 'call_settled', waitedFor: 'token_request', kind: 'aborted' }
    expect(events).toMatchObject([
      { type: 'token_requested', requestId: 1 },
      { ...settled, requestId: 1, durationMs: 30 },
      { ...aborted, requestId: 1, durationMs: 30 },
      { type: 'token_requested', requestId: 2 },
      { ...aborted, requestId: 2, durationMs: 50 },
      { ...settled, requestId: 2, durationMs: 50 },
    ])
  })

  it('report a call that waited for a cooldown, and then for a request', async () => {
    const throttled = { status: 429, headers: { 'retry-after': '45' }, body: '' }
    const { events, tokens } = listened((request) => (request === 1 ? throttled : {}))
    await tokens.getToken().catch(() => {})
    await pass(20_000)
    void tokens.getToken()
    await pass(25_000)
    expect(events.at(-1)).toMatchObject({
      type: 'call_settled',
      durationMs: 25_000,
      waitedFor: 'cooldown',
      requestId: 2,
    })
  })

  it('are not emitted for cached tokens or during a cooldown', async () => {
    const { endpoint, events, tokens } = listened({})
    await tokens.getToken()
    for (let call = 0; call < 100; call++) {
      await tokens.getToken()
      await tokens.getToken({ minimumValidityMs: 1 })
      tokens.peekToken()
    }
    expect(events).toHaveLength(3)
    endpoint.script = wrongSecret
    tokens.reset()
    await tokens.getToken().catch(() => {})
    const before = events.length
    for (let call = 0; call < 100; call++) await tokens.getToken().catch(() => {})
    const during = events.slice(before)
    // A call that fails during a cooldown is reported, a request is not.
    expect(during).toHaveLength(100)
    expect(during[0]).toEqual({ type: 'call_settled', durationMs: 0, kind: 'credentials', label: 'client' })
  })

  it('are not emitted for calls that get a rejected token during a cooldown', async () => {
    const { endpoint, events, tokens } = listened({})
    endpoint.script = (request) => (request === 1 ? {} : wrongSecret)
    tokens.reject(await tokens.getToken())
    expect((await tokens.getToken()).value).toBe('token-1')
    const before = events.length
    expect((await tokens.getToken()).value).toBe('token-1')
    expect(events.slice(before)).toEqual([])
  })

  it('state the reason of a token request', async () => {
    const { events, tokens } = listened({ expiresIn: 100 })
    await tokens.getToken()
    await pass(85_000)
    await tokens.getToken()
    await pass(100_000)
    await tokens.getToken()
    tokens.reject(tokens.peekToken()!)
    await tokens.getToken()
    await tokens.getToken({ forceRefresh: true })
    await pass(50_000)
    await tokens.getToken({ minimumValidityMs: 60_000 })
    const reasons = events.flatMap((event) => (event.type === 'token_requested' ? [event.reason] : []))
    expect(reasons).toEqual(['first', 'refresh_ahead', 'expiring', 'rejected', 'forced', 'minimum_validity'])
    const requestIds = events.flatMap((event) => (event.type === 'token_requested' ? [event.requestId] : []))
    expect(requestIds).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('state that a token is expiring from the first moment on', async () => {
    const { events, tokens } = listened({ expiresIn: 100 })
    await tokens.getToken()
    await pass(95_000)
    await tokens.getToken()
    expect(events).toContainEqual(expect.objectContaining({ type: 'token_requested', reason: 'expiring' }))
  })

  it('reach every listener until it is removed', async () => {
    const { tokens } = listened({})
    const [early, late] = [vi.fn(), vi.fn()]
    const off = tokens.subscribe(early)
    tokens.subscribe(late)
    await tokens.getToken()
    off()
    off()
    await tokens.getToken({ forceRefresh: true })
    expect([early.mock.calls.length, late.mock.calls.length]).toEqual([3, 6])
  })

  it('reach a listener twice if it was added twice, until each is removed', async () => {
    const { tokens } = listened({})
    const listener = vi.fn()
    const off = tokens.subscribe(listener)
    tokens.subscribe(listener)
    await tokens.getToken()
    off()
    await tokens.getToken({ forceRefresh: true })
    expect(listener).toHaveBeenCalledTimes(9)
  })

  it('reach the other listeners if one throws, and fail no caller', async () => {
    const { events, tokens } = listened({})
    tokens.subscribe(() => {
      throw new Error('an error of a listener')
    })
    const after = vi.fn()
    tokens.subscribe(after)
    await expect(tokens.getToken()).resolves.toBeDefined()
    expect(events).toHaveLength(3)
    expect(after).toHaveBeenCalledTimes(3)
  })

  it('run each attempt of a request inside the functions that listeners return, the first outermost', async () => {
    const context = new AsyncLocalStorage<string>()
    const sentInside: unknown[] = []
    const { tokens } = listened((request) => {
      sentInside.push(context.getStore())
      return request === 1 ? unavailable : {}
    })
    for (const name of ['outer', 'inner'])
      tokens.subscribe(({ type }) => (run: () => void) => {
        context.run(`${context.getStore()} > ${name} ${type}`, run)
      })
    const call = context.run('caller', () => tokens.getToken())
    await pass(10_000)
    await call
    const inside = 'caller > outer token_requested > inner token_requested'
    expect(sentInside).toEqual([inside, inside])
  })

  it('send a request once, whatever the function that a listener returned does', async () => {
    const { endpoint, tokens } = listened({})
    const late: (() => void)[] = []
    const functions: ((run: () => void) => unknown)[] = [
      () => {},
      (run) => (run(), run()),
      (run) => late.push(run),
      (run) => {
        run()
        throw new Error('an error of a listener')
      },
      () => Promise.reject(new Error('an error of a listener')),
    ]
    for (const each of functions) {
      const off = tokens.subscribe(() => each)
      await tokens.getToken({ forceRefresh: true })
      off()
    }
    for (const run of late) run()
    expect(endpoint.requests).toHaveLength(functions.length)
  })

  it('allow a listener to call getToken', async () => {
    const { endpoint, tokens } = listened({})
    const results: Promise<string>[] = []
    tokens.subscribe(({ type }) => {
      if (type === 'token_requested') results.push(tokens.getToken().then(({ value }) => value))
    })
    expect((await tokens.getToken()).value).toBe('token-1')
    expect(await Promise.all(results)).toEqual(['token-1'])
    expect(endpoint.requests).toHaveLength(1)
  })

  it('allow a listener to get a new token after a rejection', async () => {
    const { endpoint, tokens } = listened({})
    const results: Promise<string>[] = []
    tokens.subscribe(({ type }) => {
      if (type === 'token_rejected') results.push(tokens.getToken().then(({ value }) => value))
    })
    tokens.reject(await tokens.getToken())
    expect(await Promise.all(results)).toEqual(['token-2'])
    expect(endpoint.requests).toHaveLength(2)
  })

  it('allow an asynchronous listener, whose rejection is ignored', async () => {
    const { tokens } = listened({})
    const unhandled = vi.fn()
    process.once('unhandledRejection', unhandled)
    tokens.subscribe(() => Promise.reject(new Error('an error of a listener')) as never)
    await tokens.getToken()
    vi.useRealTimers()
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', unhandled)
    expect(unhandled).not.toHaveBeenCalled()
  })

  it('allow a listener to remove listeners, close the provider or reject the token', async () => {
    const { endpoint, tokens } = listened({})
    const off = tokens.subscribe(() => off())
    await tokens.getToken()
    let rejections = 0
    tokens.subscribe((event) => {
      if (event.type === 'token_received' && rejections++ === 0) tokens.reject(tokens.peekToken()!)
    })
    await tokens.getToken({ forceRefresh: true })
    expect(endpoint.requests.length).toBeGreaterThan(1)
    tokens.subscribe((event) => void (event.type === 'token_requested' && tokens.close()))
    await expect(tokens.getToken({ forceRefresh: true })).rejects.toMatchObject({ kind: 'aborted' })
  })
})
