import { createTokenFetch, createTokenProvider, type TokenProvider } from '@tokenwell/core'
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { describe, expect, it, vi } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, type Script } from '../support/scripted-endpoint.ts'
import { api, get, rejection, sendThrough } from './send-through.ts'

useFakeTime()

const allowedOrigins = [api]

/** A provider without the methods for authors of attachers, as in a program without types. */
function customProvider(script: Script = {}): TokenProvider {
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint(script)))
  const provider: Omit<TokenProvider, 'replaceRejected' | 'report'> = {
    getToken: (options) => tokens.getToken(options),
    peekToken: () => tokens.peekToken(),
    reject: (token) => tokens.reject(token),
    reset: () => tokens.reset(),
    revoke: () => tokens.revoke(),
    subscribe: (listener) => tokens.subscribe(listener),
    close: (options) => tokens.close(options),
    [Symbol.asyncDispose]: () => tokens.close(),
  }
  return provider as TokenProvider
}

describe('a custom token provider', () => {
  it('provides tokens for allowed origins', async () => {
    const attacher = createTokenAttacher(customProvider(), { allowedOrigins })
    expect((await sendThrough(attacher, get(api))).sent).toEqual(['Bearer token-1'])
    expect((await sendThrough(attacher, get('https://evil.example.com'))).sent).toEqual([undefined])
    const upload = { method: 'POST', url: api, repeatable: false }
    expect((await sendThrough(attacher, upload, [rejection])).sent).toEqual(['Bearer token-1'])
    expect((await sendThrough(attacher, upload)).sent).toEqual(['Bearer token-2'])
  })

  it('provides tokens for several requests to one URL', async () => {
    const sent: (string | null)[] = []
    const fetch = vi.fn(async (_input: unknown, init?: RequestInit) => {
      sent.push(new Headers(init?.headers).get('authorization'))
      return new Response('fine')
    })
    const tokenFetch = createTokenFetch(customProvider(), { allowedOrigins, fetch })
    for (let request = 0; request < 3; request++) await tokenFetch(`${api}/orders`)
    expect(sent).toEqual(Array(3).fill('Bearer token-1'))
  })

  it("replaces a rejected token, unless the caller's signal ends the wait", async () => {
    const attacher = createTokenAttacher(
      customProvider((request) => ({ latencyMs: request === 1 ? 0 : 1_000 })),
      { allowedOrigins },
    )
    const controller = new AbortController()
    const aborted = watch(sendThrough(attacher, get(api), [rejection], controller.signal))
    const replaced = watch(sendThrough(attacher, get(api), [rejection]))
    await pass(0)
    controller.abort('enough')
    await pass(0)
    expect(aborted).toEqual({ state: 'rejected', error: 'enough' })
    await pass(1_000)
    expect(replaced.value).toMatchObject({ status: 401, sent: ['Bearer token-1', 'Bearer token-2'] })
    // Nobody reports the token that replaced it.
    expect((await sendThrough(attacher, get(api))).sent).toEqual(['Bearer token-2'])
  })
})

/** A provider that delegates every method by its name. */
function wrapped(tokens: TokenProvider): TokenProvider {
  return {
    getToken: (options) => tokens.getToken(options),
    peekToken: () => tokens.peekToken(),
    reject: (token) => tokens.reject(token),
    replaceRejected: (token, request) => tokens.replaceRejected(token, request),
    sendFirst: (request) => tokens.sendFirst?.(request),
    reportSuccess: (urlOf) => tokens.reportSuccess?.(urlOf),
    report: (event) => tokens.report(event),
    reset: () => tokens.reset(),
    revoke: () => tokens.revoke(),
    subscribe: (listener) => tokens.subscribe(listener),
    close: (options) => tokens.close(options),
    [Symbol.asyncDispose]: () => tokens.close(),
  }
}

describe('a wrapper that delegates every method by its name', () => {
  it.each([
    ['the provider', (tokens: TokenProvider) => tokens],
    ['the wrapper', wrapped],
  ])('costs as few token requests, and reports as much, as the provider: %s', async (_name, wrap) => {
    const endpoint = new ScriptedEndpoint()
    const events: string[] = []
    const tokens = createTokenProvider(sourceOf(endpoint), { onEvent: ({ type }) => events.push(type) })
    const rejecting = async (): Promise<Response> => new Response(null, { status: 401 })
    const tokenFetch = createTokenFetch(wrap(tokens), { allowedOrigins, fetch: rejecting })
    for (let call = 0; call < 40; call++) await tokenFetch(`${api}/orders`)
    await tokenFetch('https://other.example.com')
    expect(endpoint.requests).toHaveLength(2)
    expect(events).toContain('token_withheld')
  })
})
