import { createTokenProvider } from '@tokenwell/core'
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { rejection, sendThrough } from '../attach/send-through.ts'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { never, ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

useFakeTime()
afterEach(() => vi.unstubAllGlobals())

/** Behaves like workerd when a request ends: its I/O never settles, its timers never fire, aborting it throws. */
async function dropTimers(work: () => unknown): Promise<void> {
  // Not a spy, because restoring it after the fake timers would restore those too.
  const { setTimeout } = globalThis
  globalThis.setTimeout = (() => 0) as never
  work()
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
  globalThis.setTimeout = setTimeout
}

describe('a token request that the runtime has dropped', () => {
  it('is abandoned by all waiting callers after its deadline', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? never : {}))
    const tokens = createTokenProvider(sourceOf(endpoint))
    await dropTimers(() => watch(tokens.getToken()))
    await pass(4_000)
    const calls = [watch(tokens.getToken()), watch(tokens.getToken({ signal: new AbortController().signal }))]
    await pass(6_000)
    expect(calls.map(({ state }) => state)).toEqual(['pending', 'pending'])
    await pass(100)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-2', 'token-2'])
    expect(endpoint.requests).toHaveLength(2)
  })

  it('is replaced immediately by a later call', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? never : {}))
    const tokens = createTokenProvider(sourceOf(endpoint))
    await dropTimers(() => watch(tokens.getToken()))
    await pass(60_000)
    expect((await tokens.getToken()).value).toBe('token-2')
  })

  it('is abandoned even if aborting it throws', async () => {
    vi.spyOn(AbortController.prototype, 'abort').mockImplementation(() => {
      throw new Error('Cannot perform I/O on behalf of a different request.')
    })
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? never : {}))
    const tokens = createTokenProvider(sourceOf(endpoint))
    await dropTimers(() => watch(tokens.getToken()))
    await pass(60_000)
    expect((await tokens.getToken()).value).toBe('token-2')
  })
})

describe.each([
  ['Cloudflare Workers', () => vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })],
  ['an edge runtime', () => vi.stubGlobal('EdgeRuntime', 'edge-runtime')],
])('in %s', (_name, enter) => {
  it('a token that is due for refresh is not refreshed in the background', async () => {
    enter()
    const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
    const tokens = createTokenProvider(sourceOf(endpoint))
    await tokens.getToken()
    await pass(94_000)
    expect((await tokens.getToken()).value).toBe('token-1')
    await pass(0)
    expect(endpoint.requests).toHaveLength(1)
    await pass(1_500)
    expect((await tokens.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('a token that an API rejects is replaced by the next call, if the request cannot be sent again', async () => {
    enter()
    const endpoint = new ScriptedEndpoint()
    const tokens = createTokenProvider(sourceOf(endpoint))
    const attacher = createTokenAttacher(tokens, { allowedOrigins: ['https://api.example.com'] })
    const request = { method: 'POST', url: 'https://api.example.com', repeatable: false }
    await sendThrough(attacher, request, [rejection])
    await pass(0)
    expect(endpoint.requests).toHaveLength(1)
    expect((await tokens.getToken()).value).toBe('token-2')
  })

  it('is refreshed in the background if waitUntil keeps the request alive', async () => {
    enter()
    const endpoint = new ScriptedEndpoint({ expiresIn: 100, latencyMs: 1_000 })
    const work: Promise<unknown>[] = []
    const tokens = createTokenProvider(sourceOf(endpoint), { waitUntil: (promise) => work.push(promise) })
    const first = tokens.getToken()
    await pass(1_000)
    await first
    await pass(89_000)
    expect((await tokens.getToken()).value).toBe('token-1')
    await pass(1_000)
    expect((await tokens.getToken()).value).toBe('token-2')
    expect(work).toHaveLength(2)
    await expect(Promise.all(work)).resolves.toBeDefined()
  })
})

it('fails no caller if waitUntil throws, as it does outside a request', async () => {
  const waitUntil = () => {
    throw new Error('no request')
  }
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()), { waitUntil })
  await expect(tokens.getToken()).resolves.toBeDefined()
})

it('without a navigator, a token is refreshed in the background', async () => {
  vi.stubGlobal('navigator', undefined)
  const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
  const tokens = createTokenProvider(sourceOf(endpoint))
  await tokens.getToken()
  await pass(94_000)
  expect((await tokens.getToken()).value).toBe('token-1')
  await pass(0)
  expect(endpoint.requests).toHaveLength(2)
})
