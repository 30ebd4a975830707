import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createTokenPool,
  createTokenProvider,
  type AttachOptions,
  type TokenEvent,
  type TokenSource,
  createTokenFetch,
  type TokenBinding,
} from '@tokenwell/core'
import { createTokenAttacher, type ApiResponse } from '@tokenwell/core/adapter'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, wrongSecret, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

const api = 'https://api.example.com'

function start(script: Script = {}, options: Partial<AttachOptions> = {}) {
  const endpoint = new ScriptedEndpoint(script)
  const events: TokenEvent[] = []
  const tokens = createTokenProvider(sourceOf(endpoint), { onEvent: (event) => events.push(event) })
  return {
    endpoint,
    events,
    tokens,
    attacher: createTokenAttacher(tokens, { allowedOrigins: [api], ...options }),
  }
}

const get = (url: string | URL) => ({ method: 'GET', url })
const rejection: ApiResponse = { status: 401, headers: {} }

describe('attaching', () => {
  it('returns the header to set', async () => {
    const { attacher } = start()
    const attachment = await attacher.attach(get(`${api}/orders`))
    expect(attachment).toMatchObject({
      headers: { Authorization: 'Bearer token-1' },
      token: { value: 'token-1' },
    })
  })

  it.each<[Partial<AttachOptions>, string, string]>([
    [{ scheme: '' }, 'Authorization', 'token-1'],
    [{ scheme: 'Token' }, 'Authorization', 'Token token-1'],
    [{ header: 'X-Access-Token', scheme: '' }, 'X-Access-Token', 'token-1'],
    [{ header: undefined, scheme: undefined }, 'Authorization', 'Bearer token-1'],
  ])('with %j', async (options, header, value) => {
    const { attacher } = start({}, options)
    expect(await attacher.attach(get(api))).toMatchObject({ headers: { [header]: value } })
    expect(attacher.header).toBe(header)
  })

  it('allows redirects only with the Authorization header, which clients drop for another origin', () => {
    expect(start().attacher.followsRedirects).toBe(true)
    expect(start({}, { header: 'AUTHORIZATION' }).attacher.followsRedirects).toBe(true)
    expect(start({}, { header: 'X-Token' }).attacher.followsRedirects).toBe(false)
  })

  it('has to see every response only with isTokenRejected', () => {
    expect(start().attacher.checksEveryResponse).toBe(false)
    expect(start({}, { isTokenRejected: () => undefined }).attacher.checksEveryResponse).toBe(true)
  })

  it('requests and attaches no token for other origins, and emits an event', async () => {
    const { attacher, endpoint, events } = start()
    expect(await attacher.attach(get('https://evil.example.com/path?secret=canary'))).toBeUndefined()
    expect(await attacher.attach(get(new URL('http://api.example.com')))).toBeUndefined()
    expect(await attacher.attach(get('not a url'))).toBeUndefined()
    expect(endpoint.requests).toHaveLength(0)
    expect(events).toEqual([
      { type: 'token_withheld', origin: 'https://evil.example.com', label: 'client' },
      { type: 'token_withheld', origin: 'http://api.example.com', label: 'client' },
      { type: 'token_withheld', origin: 'null', label: 'client' },
    ])
  })

  it('fails the request if no token is available', async () => {
    await expect(start(wrongSecret).attacher.attach(get(api))).rejects.toMatchObject({ kind: 'credentials' })
  })

  it("passes on the caller's signal", async () => {
    const { attacher } = start()
    await expect(attacher.attach(get(api), AbortSignal.abort('enough'))).rejects.toBe('enough')
    await expect(attacher.attach(get(api), null)).resolves.toBeDefined()
    // With a cached token too.
    const cached = async () => attacher.attach(get(api), AbortSignal.abort('enough'))
    await expect(cached()).rejects.toBe('enough')
  })

  it('ends the wait when the signal is aborted', async () => {
    const { attacher } = start({ latencyMs: 100 })
    const controller = new AbortController()
    const call = watch(attacher.attach(get(api), controller.signal))
    await pass(50)
    controller.abort('enough')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'enough' })
  })

  it.each([
    [{ header: '' }, 'header'],
    [{ header: 'X Token' }, 'header'],
    [{ header: 'X-Token\r\n' }, 'header'],
    [{ header: 'X-Tökén' }, 'header'],
    [{ scheme: 'Bearer ' }, 'scheme'],
    [{ scheme: 'a b' }, 'scheme'],
    [{ scheme: '\n' }, 'scheme'],
    [{ allowedOrigins: [] }, 'allowedOrigins'],
    [{ allowedOrigins: undefined }, 'allowedOrigins'],
    [{ allowedOrigins: api }, 'allowedOrigins'],
  ])('throws for the options %j', (options, name) => {
    expect(() => start({}, options as never)).toThrow(
      expect.objectContaining({ kind: 'configuration', message: expect.stringContaining(name) as string }),
    )
  })
})

describe('a 401 to a request without a token', () => {
  const retryAttachment = async (url: string, status: number) => {
    const { attacher } = start()
    const response = { ...rejection, status }
    for (let request = 0; request < 2; request++)
      await attacher.retryAttachment(get(url), undefined, response, true)
  }
  const warnings = (environment: string | undefined) => {
    vi.stubEnv('NODE_ENV', environment)
    onTestFinished(() => void vi.unstubAllEnvs())
    return vi.spyOn(console, 'warn').mockImplementation(() => {})
  }

  it('is explained once for each origin', async () => {
    const warn = warnings('development')
    await retryAttachment('https://other.example.com/orders', 401)
    expect(warn.mock.calls).toEqual([
      [
        'Tokenwell: https://other.example.com responded with status 401. No token was sent to it, because it is not in allowedOrigins.',
      ],
    ])
  })

  it.each([
    ['the process has no environment', Object.create(process, { env: { value: undefined } }) as unknown],
    ['there is no process', undefined],
  ])('is explained where %s', async (_where, value) => {
    const warn = warnings(undefined)
    vi.stubGlobal('process', value)
    await retryAttachment('https://other.example.com/orders', 401).finally(() => vi.unstubAllGlobals())
    expect(warn).toHaveBeenCalledOnce()
  })

  it('is no failure where there is no console', async () => {
    warnings('development')
    vi.stubGlobal('console', undefined)
    const reattached = await retryAttachment('https://other.example.com', 401).then(
      () => 'no failure',
      (error: unknown) => error,
    )
    vi.unstubAllGlobals()
    expect(reattached).toBe('no failure')
  })

  it.each(['preproduction', 'test-eu'])('is explained in the environment %s', async (environment) => {
    const warn = warnings(environment)
    await retryAttachment('https://other.example.com/orders', 401)
    expect(warn).toHaveBeenCalledOnce()
  })

  it.each([
    ['for another status', 'development', 'https://other.example.com', 403],
    ['for an allowed origin', 'development', api, 401],
    ['in production', 'production', 'https://other.example.com', 401],
    ['in a test', 'test', 'https://other.example.com', 401],
  ])('is not explained %s', async (_when, environment, url, status) => {
    const warn = warnings(environment)
    await retryAttachment(url, status)
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('after a response', () => {
  it('returns a new token once for a rejected one', async () => {
    const { attacher, endpoint, events } = start()
    const attachment = (await attacher.attach(get(api)))!
    expect(await attacher.retryAttachment(get(api), attachment, rejection, true)).toMatchObject({
      headers: { Authorization: 'Bearer token-2' },
    })
    expect(endpoint.requests).toHaveLength(2)
    expect(events).toContainEqual(expect.objectContaining({ type: 'token_rejected', origin: api }))
  })

  it.each([200, 204, 304, 400, 403, 404, 429, 500])('returns undefined for status %d', async (status) => {
    for (const options of [{}, { isTokenRejected: () => undefined }]) {
      const { attacher, tokens } = start({}, options)
      const attachment = (await attacher.attach(get(api)))!
      expect(
        await attacher.retryAttachment(get(api), attachment, { ...rejection, status }, true),
      ).toBeUndefined()
      expect(tokens.peekToken()).toBe(attachment.token)
    }
  })

  it('returns undefined if the request cannot be sent again, and refreshes in the background', async () => {
    const { attacher, endpoint, events, tokens } = start((request) => ({
      latencyMs: request === 1 ? 0 : 100,
    }))
    const attachment = (await attacher.attach(get(api)))!
    await pass(0)
    expect(await attacher.retryAttachment(get(api), attachment, rejection, false)).toBeUndefined()
    // Requests that can be repeated use the old token meanwhile; others wait for the new one.
    expect(await attacher.attach(get(api))).toMatchObject({ token: { value: 'token-1' } })
    const waiting = watch(Promise.resolve(attacher.attach({ ...get(api), repeatable: false })))
    await pass(100)
    expect(waiting.value?.token.value).toBe('token-2')
    expect(tokens.peekToken()?.value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
    const reasons = events.flatMap((event) => (event.type === 'token_requested' ? [event.reason] : []))
    expect(reasons).toEqual(['first', 'rejected'])
  })

  it('returns undefined with `retryOnRejection: false`; the next request gets a new token', async () => {
    const { attacher } = start({}, { retryOnRejection: false })
    const attachment = (await attacher.attach(get(api)))!
    expect(await attacher.retryAttachment(get(api), attachment, rejection, true)).toBeUndefined()
    expect((await attacher.attach(get(api)))?.token.value).toBe('token-2')
  })

  it('returns undefined if no new token is available', async () => {
    const { attacher } = start((request) => (request === 1 ? {} : wrongSecret))
    const attachment = (await attacher.attach(get(api)))!
    expect(await attacher.retryAttachment(get(api), attachment, rejection, true)).toBeUndefined()
  })

  it('returns undefined if the server issues the same token again', async () => {
    const { attacher } = start({ body: { access_token: 'same', token_type: 'Bearer', expires_in: 60 } })
    const attachment = (await attacher.attach(get(api)))!
    expect(await attacher.retryAttachment(get(api), attachment, rejection, true)).toBeUndefined()
  })

  it('replaces tokens less often if an API rejects every new one', async () => {
    const { attacher, endpoint } = start()
    const repeatedAt: number[] = []
    for (let tenth = 0; tenth < 250; tenth++) {
      const attachment = (await attacher.attach(get(`${api}/broken`)))!
      const next = await attacher.retryAttachment(get(`${api}/broken`), attachment, rejection, true)
      if (next) {
        repeatedAt.push(tenth / 10)
        expect(await attacher.retryAttachment(get(`${api}/broken`), next, rejection, false)).toBeUndefined()
      }
      await pass(100)
    }
    expect(repeatedAt).toEqual([0, 1, 3, 7, 15])
    expect(endpoint.requests).toHaveLength(6)
  })

  it.each([
    ['a provider', (source: TokenSource) => createTokenProvider(source)],
    ['a key of a pool', (source: TokenSource) => createTokenPool((_key: string) => source).for('a')],
  ])('replaces the tokens of %s as often as the API accepts the new ones', async (_name, tokensOf) => {
    const endpoint = new ScriptedEndpoint()
    const attacher = createTokenAttacher(tokensOf(sourceOf(endpoint)), { allowedOrigins: [api] })
    for (let revocation = 0; revocation < 15; revocation++) {
      const attachment = (await attacher.attach(get(api)))!
      const next = (await attacher.retryAttachment(get(api), attachment, rejection, true))!
      await attacher.retryAttachment(get(api), next, { status: 200, headers: {} }, false)
    }
    expect(endpoint.requests).toHaveLength(16)
  })

  it('stops replacing tokens for an API that rejects them on many paths', async () => {
    const { attacher, endpoint } = start()
    const repeated: boolean[] = []
    for (let path = 0; path < 30; path++) {
      const request = get(`${api}/${path}`)
      const attachment = (await attacher.attach(request))!
      repeated.push((await attacher.retryAttachment(request, attachment, rejection, true)) !== undefined)
    }
    expect(repeated).toEqual([...Array<boolean>(20).fill(true), ...Array<boolean>(10).fill(false)])
    expect(endpoint.requests).toHaveLength(21)
  })

  it('does not affect other paths and origins if one path rejects every token', async () => {
    const other = 'https://other.example.com'
    const { attacher, endpoint } = start({}, { allowedOrigins: [api, other] })
    for (let path = 0; path < 30; path++) {
      const request = get(`${api}/${path}`)
      await attacher.retryAttachment(request, await attacher.attach(request), rejection, true)
    }
    const attachment = (await attacher.attach(get(other)))!
    const next = (await attacher.retryAttachment(get(other), attachment, rejection, true))!
    expect(next.token.value).not.toBe(attachment.token.value)
    expect(endpoint.requests).toHaveLength(22)
  })

  it('limits the 100 origins that rejected tokens last', async () => {
    const { attacher } = start({}, { allowedOrigins: [() => true] })
    const isRepeated = async (url: string) => {
      const attachment = await attacher.attach(get(url))
      return (await attacher.retryAttachment(get(url), attachment, rejection, true)) !== undefined
    }
    for (let path = 0; path < 20; path++) expect(await isRepeated(`${api}/${path}`)).toBe(true)
    for (const [name, others, repeated] of [
      ['first', 99, false],
      ['second', 99, false],
      ['third', 100, true],
    ] as const) {
      for (let other = 0; other < others; other++) await isRepeated(`https://${name}-${other}.example.com`)
      expect(await isRepeated(`${api}/next`)).toBe(repeated)
    }
  })

  it('keeps the token in use for other requests until a replacement is available', async () => {
    const { attacher, endpoint } = start((request) => (request === 1 ? {} : { status: 503, body: 'down' }))
    const attachment = (await attacher.attach(get(api)))!
    const repeated = watch(attacher.retryAttachment(get(api), attachment, rejection, true))
    await pass(30_000)
    expect(repeated).toEqual({ state: 'resolved', value: undefined })
    expect(await attacher.attach(get(`${api}/healthy`))).toMatchObject({ token: { value: 'token-1' } })
    expect(endpoint.requests).toHaveLength(4)
  })

  it('uses the current token if an older one was rejected late', async () => {
    const { attacher, endpoint } = start()
    const late = (await attacher.attach(get(api)))!
    const early = (await attacher.attach(get(api)))!
    await attacher.retryAttachment(get(api), early, rejection, true)
    expect(await attacher.retryAttachment(get(api), late, rejection, true)).toMatchObject({
      headers: { Authorization: 'Bearer token-2' },
    })
    expect(endpoint.requests).toHaveLength(2)
  })

  it('throws the reason of the signal if the caller has aborted in the meantime', async () => {
    const { attacher } = start((request) => ({ latencyMs: request === 1 ? 0 : 1_000 }))
    const attachment = (await attacher.attach(get(api)))!
    const controller = new AbortController()
    const call = watch(attacher.retryAttachment(get(api), attachment, rejection, true, controller.signal))
    await pass(500)
    controller.abort('enough')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'enough' })
  })

  it('ignores a response from another origin after a redirect, because the token was not sent there', async () => {
    const { attacher, tokens } = start()
    const attachment = (await attacher.attach(get(api)))!
    expect(
      await attacher.retryAttachment(
        get(api),
        attachment,
        { ...rejection, url: 'https://cdn.example.net/x' },
        true,
      ),
    ).toBeUndefined()
    expect(tokens.peekToken()).toBe(attachment.token)
    expect(
      await attacher.retryAttachment(get(api), attachment, { ...rejection, url: `${api}/moved` }, true),
    ).toBeDefined()
  })
})

const body = { access_token: 'bound', token_type: 'DPoP', expires_in: 3600 }

it('learns nonces from every response, and leaves redirects to the caller, whose proof would not fit', async () => {
  const receive = vi.fn(() => false)
  const binding: TokenBinding = {
    tokenType: 'DPoP',
    checkShareable() {},
    fingerprint: () => 'key',
    send: (_url, send) => send({}),
    prove: async ({ url }) => ({ dpop: `proof for ${url}` }),
    receive,
  }
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint({ body }), { binding }))
  const fetch = vi.fn(async () => new Response('', { headers: { 'dpop-nonce': 'next' } }))
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [api], fetch })
  for (let call = 0; call < 2; call += 1) await tokenFetch(`${api}/orders`)
  expect(fetch).toHaveBeenLastCalledWith(`${api}/orders`, {
    headers: { Authorization: 'DPoP bound', dpop: `proof for ${api}/orders` },
    redirect: 'manual',
  })
  expect(receive).toHaveBeenCalledTimes(2)
  expect(receive).toHaveBeenLastCalledWith(new URL(`${api}/orders`), expect.any(Headers))
})

it('explains what is missing if the source of a bound token has no binding', async () => {
  const tokens = createTokenProvider({
    cacheKey: async () => 'key',
    requestToken: async () => ({ accessToken: 'bound', tokenType: 'DPoP', scope: [], expiresIn: 3600 }),
  })
  const attacher = createTokenAttacher(tokens, { allowedOrigins: [api] })
  await expect(attacher.attach({ method: 'GET', url: api })).rejects.toMatchObject({
    kind: 'configuration',
    message: 'The token is bound to a key (DPoP), but its source has no binding. Set binding: dpop().',
  })
})
