import { describe, expect, it, vi } from 'vitest'
import {
  backendTokens,
  isRejectedByPage,
  createTokenProvider,
  tokenResponseBody,
  TokenError,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import {
  ScriptedEndpoint,
  sourceOf,
  unavailable,
  type ScriptedResponse,
} from '../support/scripted-endpoint.ts'

useFakeTime()

const url = 'https://app.example.com/token'

describe('tokens from a backend', () => {
  it('are requested with a POST without a secret', async () => {
    const endpoint = new ScriptedEndpoint()
    const send = vi.fn(endpoint.fetch)
    const tokens = backendTokens({ url, fetch: send })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-1' })
    const [to, init] = send.mock.calls[0]!
    expect(to).toBe(url)
    expect(init).toMatchObject({ method: 'POST', redirect: 'manual' })
    expect(init?.body).toBeUndefined()
    expect(init?.credentials).toBeUndefined()
    expect(new Headers(init?.headers).get('accept')).toBe('application/json')
  })

  it('are requested with headers for each request, and with cookies on request', async () => {
    const send = vi.fn(new ScriptedEndpoint().fetch)
    let csrf = 0
    const tokens = backendTokens({
      url,
      fetch: send,
      headers: () => ({ 'x-csrf': String(++csrf) }),
      credentials: 'include',
    })
    await tokens.getToken()
    await tokens.getToken({ forceRefresh: true })
    const sent = send.mock.calls.map(([, init]) => new Headers(init?.headers).get('x-csrf'))
    expect(sent).toEqual(['1', '2'])
    expect(send.mock.calls[0]![1]?.credentials).toBe('include')
  })

  it('are requested with a header of its own after an API has rejected one, until there is another', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 2 ? { status: 503, body: '' } : {}))
    const send = vi.fn(endpoint.fetch)
    const tokens = backendTokens({ url, fetch: send, maxAttempts: 1 })
    const rejected = await tokens.getToken()
    tokens.reject(rejected)
    await tokens.getToken()
    await pass(10_000)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-3' })
    await tokens.getToken({ forceRefresh: true })
    const sent = send.mock.calls.map(([, init]) => new Headers(init?.headers).get('x-token-rejected'))
    expect(sent).toEqual([null, expect.stringMatching(/^[0-9a-f]{32}$/), sent[1], null])
    expect(await isRejectedByPage(rejected, sent[1])).toBe(true)
    expect(await isRejectedByPage({ value: 'token-3' }, sent[1])).toBe(false)
    for (const none of [null, undefined, '']) expect(await isRejectedByPage(rejected, none)).toBe(false)
    // A page without WebCrypto.
    expect(await isRejectedByPage(rejected, 'true')).toBe(true)
  })

  it('are requested with an Accept header of the caller', async () => {
    const send = vi.fn(new ScriptedEndpoint().fetch)
    const headers = () => ({ Accept: 'application/vnd.example+json' })
    await backendTokens({ url, fetch: send, headers }).getToken()
    expect(new Headers(send.mock.calls[0]![1]?.headers).get('accept')).toBe('application/vnd.example+json')
  })

  it('are requested from a URL relative to the page, with the global fetch', async () => {
    const send = vi.fn((..._of: Parameters<typeof fetch>) =>
      Promise.resolve(Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 60 })),
    )
    vi.stubGlobal('fetch', send)
    try {
      await backendTokens({ url: '/api/token' }).getToken()
    } finally {
      vi.unstubAllGlobals()
    }
    expect(send.mock.calls[0]![0]).toBe('/api/token')
  })

  it.each([
    'http://app.example.com/token',
    'https://user@app.example.com/',
    'https://:password@app.example.com/',
    'ftp://app.example.com',
    'javascript:0',
  ])('are never requested from %s', (address) => {
    const message =
      'url must be relative to the page or start with https://, without a user name or password.'
    const error = expect.objectContaining({ kind: 'configuration', message }) as Error
    expect(() => backendTokens({ url: address })).toThrow(error)
  })

  it('have the lifetime that the backend returns', async () => {
    const inner = createTokenProvider(sourceOf(new ScriptedEndpoint({ expiresIn: 100 })))
    await inner.getToken()
    await pass(60_000)
    const body = tokenResponseBody(await inner.getToken())
    const tokens = backendTokens({ url, fetch: new ScriptedEndpoint({ body }).fetch })
    const token = await tokens.getToken()
    expect(token.expiresAt.getTime() - Date.now()).toBe(40_000)
  })
})

describe('a failing backend', () => {
  it('causes a cooldown like any token endpoint', async () => {
    const endpoint = new ScriptedEndpoint(unavailable)
    const tokens = backendTokens({ url, fetch: endpoint.fetch })
    const call = watch(tokens.getToken())
    await pass(10_000)
    expect(call).toMatchObject({ state: 'rejected', error: { kind: 'unavailable', attempts: 3 } })
  })

  it.each([
    ['a page', '<html>'],
    ['no token', { ok: true }],
    ['an error', { error: 'server_error' }],
  ])('that returns %s provides no token', async (_name, body) => {
    const tokens = backendTokens({ url, fetch: new ScriptedEndpoint({ body }).fetch, maxAttempts: 1 })
    await expect(tokens.getToken()).rejects.toMatchObject({ name: 'TokenError' })
  })

  it.each([
    [429, 'throttled', 'The backend returned no token (429).', 7_000],
    [503, 'unavailable', 'The backend returned no token (503).', 7_000],
    [404, 'configuration', 'The backend returned no token (404). Check its URL.', undefined],
    [200, 'malformed', 'The backend returned no token (200). Check its URL.', undefined],
  ])('is classified by its status %i', async (status, kind, message, retryAfterMs) => {
    const body = { error: 'invalid_client', error_description: 'canary' }
    const endpoint = new ScriptedEndpoint({ status, body, headers: { 'retry-after': '7' } })
    const tokens = backendTokens({ url, fetch: endpoint.fetch, maxAttempts: 1 })
    const error: unknown = await tokens.getToken().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ kind, message, status })
    expect((error as TokenError).retryAfterMs).toBe(retryAfterMs)
  })

  it('that cannot be reached is named, without the text of the error', async () => {
    const error = Object.assign(new TypeError('canary'), { code: 'ECONNREFUSED' })
    const tokens = backendTokens({ url, fetch: new ScriptedEndpoint({ error }).fetch, maxAttempts: 1 })
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'unavailable',
      message: "Could not reach the backend's token route (ECONNREFUSED).",
    })
  })

  it.each<[string, ScriptedResponse]>([
    ['403', { status: 403, body: '' }],
    ['419', { status: 419, body: '' }],
    ['a login page', { body: '<html>' }],
  ])(
    'that returns %s gets another request after a changed header, forceRefresh or reset',
    async (_name, response) => {
      const endpoint = new ScriptedEndpoint(response)
      let csrf = 'old'
      const headers = () => Promise.resolve({ 'x-csrf-token': csrf })
      const tokens = backendTokens({ url, fetch: endpoint.fetch, headers })
      const fails = () => expect(tokens.getToken()).rejects.toBeInstanceOf(TokenError)
      await fails()
      await fails()
      expect(endpoint.requests).toHaveLength(1)
      await expect(tokens.getToken({ forceRefresh: true })).rejects.toThrow()
      expect(endpoint.requests).toHaveLength(2)
      tokens.reset()
      await fails()
      expect(endpoint.requests).toHaveLength(3)
      // The second cooldown is longer than a second.
      await pass(1_000)
      await fails()
      await pass(1_000)
      await fails()
      expect(endpoint.requests).toHaveLength(4)
      endpoint.script = {}
      csrf = 'new'
      // The headers are compared once a second.
      await pass(999)
      await fails()
      await pass(1)
      await expect(tokens.getToken()).resolves.toBeDefined()
      expect(endpoint.requests).toHaveLength(5)
    },
  )

  it.each([
    [403, '', 3],
    [200, '<html>', 3],
    [404, '', 1],
    [500, '', 1],
  ])(
    'that returns %i %j, with a new header for each of three calls, gets requests: %i',
    async (status, body, requests) => {
      const endpoint = new ScriptedEndpoint({ status, body })
      let csrf = 0
      const headers = () => ({ 'x-csrf-token': String(++csrf) })
      const tokens = backendTokens({ url, fetch: endpoint.fetch, headers, maxAttempts: 1 })
      for (let call = 0; call < 3; call++) await expect(tokens.getToken()).rejects.toMatchObject({ status })
      expect(endpoint.requests).toHaveLength(requests)
    },
  )

  it('is not requested if its headers function fails', async () => {
    const endpoint = new ScriptedEndpoint()
    const headers = () => {
      throw new Error('canary')
    }
    const tokens = backendTokens({ url, fetch: endpoint.fetch, headers, maxAttempts: 1 })
    await expect(tokens.getToken()).rejects.toMatchObject({
      message: expect.not.stringContaining('canary') as string,
    })
    expect(endpoint.requests).toHaveLength(0)
  })
})
