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
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, wrongSecret, type Script } from '../support/scripted-endpoint.ts'
import { api, fine, get, rejection, sendThrough } from './send-through.ts'

useFakeTime()

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

describe('sending', () => {
  it('passes the headers to set, and whether redirects may be followed', async () => {
    const { attacher } = start()
    const { attachments, status } = await sendThrough(attacher, get(`${api}/orders`))
    expect(attachments).toEqual([{ headers: { Authorization: 'Bearer token-1' }, followsRedirects: true }])
    expect(status).toBe(200)
  })

  it.each<[Partial<AttachOptions>, string, string]>([
    [{ scheme: '' }, 'Authorization', 'token-1'],
    [{ scheme: 'Token' }, 'Authorization', 'Token token-1'],
    [{ header: 'X-Access-Token', scheme: '' }, 'X-Access-Token', 'token-1'],
    [{ header: undefined, scheme: undefined }, 'Authorization', 'Bearer token-1'],
  ])('with %j', async (options, header, value) => {
    const { attacher } = start({}, options)
    const { attachments } = await sendThrough(attacher, get(api))
    expect(attachments).toMatchObject([{ headers: { [header]: value } }])
    expect(attacher.header).toBe(header)
  })

  it('allows redirects only with the Authorization header, which clients drop for another origin', async () => {
    const allowed = async (options: Partial<AttachOptions>) =>
      (await sendThrough(start({}, options).attacher, get(api))).attachments[0]?.followsRedirects
    expect(await allowed({})).toBe(true)
    expect(await allowed({ header: 'AUTHORIZATION' })).toBe(true)
    expect(await allowed({ header: 'X-Token' })).toBe(false)
  })

  it('requests and attaches no token for other origins, and emits an event', async () => {
    const { attacher, endpoint, events } = start()
    for (const url of [
      'https://evil.example.com/path?secret=canary',
      new URL('http://api.example.com'),
      'not a url',
    ])
      expect((await sendThrough(attacher, get(url))).attachments).toEqual([undefined])
    expect(endpoint.requests).toHaveLength(0)
    expect(events).toEqual([
      { type: 'token_withheld', origin: 'https://evil.example.com', label: 'client' },
      { type: 'token_withheld', origin: 'http://api.example.com', label: 'client' },
      { type: 'token_withheld', origin: 'null', label: 'client' },
    ])
  })

  it('fails the request if no token is available, without sending it', async () => {
    const send = vi.fn()
    const sending = start(wrongSecret).attacher.send(get(api), undefined, send)
    await expect(sending).rejects.toMatchObject({ kind: 'credentials' })
    expect(send).not.toHaveBeenCalled()
  })

  it('passes on what the client throws', async () => {
    const error = new TypeError('fetch failed')
    await expect(start().attacher.send(get(api), undefined, () => Promise.reject(error))).rejects.toBe(error)
  })

  it("passes on the caller's signal", async () => {
    const { attacher } = start()
    await expect(sendThrough(attacher, get(api), [fine], AbortSignal.abort('enough'))).rejects.toBe('enough')
    expect((await sendThrough(attacher, get(api), [fine], null)).status).toBe(200)
    // With a cached token too.
    await expect(sendThrough(attacher, get(api), [fine], AbortSignal.abort('enough'))).rejects.toBe('enough')
  })

  it('ends the wait when the signal is aborted', async () => {
    const { attacher } = start({ latencyMs: 100 })
    const controller = new AbortController()
    const call = watch(sendThrough(attacher, get(api), [fine], controller.signal))
    await pass(50)
    controller.abort('enough')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'enough' })
  })

  it.each([
    ['a promise', async () => undefined],
    ['anything else', () => ({})],
  ])('explains a function that selects a provider and returns %s', async (_what, select) => {
    const attacher = createTokenAttacher(select as never, { allowedOrigins: [api] })
    await expect(sendThrough(attacher, get(api))).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('must return a provider or undefined, not a promise') as string,
    })
  })

  it('attaches no token if the function that selects a provider returns null', async () => {
    const attacher = createTokenAttacher((() => null) as never, { allowedOrigins: [api] })
    expect((await sendThrough(attacher, get(api))).attachments).toEqual([undefined])
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
  const sendTwice = async (url: string, status: number) => {
    const { attacher } = start()
    // To an allowed origin, with a token that is rejected.
    for (let request = 0; request < 2; request++) await sendThrough(attacher, get(url), [{ status }])
  }
  const warnings = (environment: string | undefined) => {
    vi.stubEnv('NODE_ENV', environment)
    onTestFinished(() => void vi.unstubAllEnvs())
    return vi.spyOn(console, 'warn').mockImplementation(() => {})
  }

  it('is explained once for each origin', async () => {
    const warn = warnings('development')
    await sendTwice('https://other.example.com/orders', 401)
    expect(warn.mock.calls).toEqual([
      [
        'Tokenwell: https://other.example.com responded with status 401. This client attached no token, because it is not in allowedOrigins.',
      ],
    ])
  })

  it('is not explained if the request had a header, which another attacher of the client may have set', async () => {
    const warn = warnings('development')
    const request = { ...get('https://other.example.com/orders'), hasHeader: true }
    await sendThrough(start().attacher, request, [rejection])
    expect(warn).not.toHaveBeenCalled()
  })

  it('is explained for 20 origins', async () => {
    const warn = warnings('development')
    const { attacher } = start()
    for (let origin = 0; origin < 1_000; origin++)
      await sendThrough(attacher, get(`https://other-${origin}.example.com`), [rejection])
    expect(warn).toHaveBeenCalledTimes(20)
  })

  it.each([
    ['the request had a header', { hasHeader: true }, createTokenProvider(sourceOf(new ScriptedEndpoint()))],
    ['no token provider was selected', {}, undefined],
  ])('is explained if %s', async (reason, request, provider) => {
    const warn = warnings('development')
    const attacher = createTokenAttacher(() => provider, { allowedOrigins: [api] })
    await sendThrough(attacher, { ...get(api), ...request }, [rejection])
    expect(warn).toHaveBeenCalledOnce()
    expect(warn.mock.calls[0]![0]).toContain(reason)
  })

  it('is explained if the request lost its token on the way to another origin', async () => {
    const warn = warnings('development')
    const request = get('https://other.example.com/orders')
    await sendThrough(start().attacher, get(api), [{ ...rejection, request, hasToken: false }])
    expect(warn).toHaveBeenCalledOnce()
    expect(warn.mock.calls[0]![0]).toContain('https://other.example.com responded')
  })

  it.each([
    ['the process has no environment', Object.create(process, { env: { value: undefined } }) as unknown],
    ['there is no process', undefined],
  ])('is explained where %s', async (_where, value) => {
    const warn = warnings(undefined)
    vi.stubGlobal('process', value)
    await sendTwice('https://other.example.com/orders', 401).finally(() => vi.unstubAllGlobals())
    expect(warn).toHaveBeenCalledOnce()
  })

  it('is no failure where there is no console', async () => {
    warnings('development')
    vi.stubGlobal('console', undefined)
    const sending = sendThrough(start().attacher, get('https://other.example.com'), [rejection])
    const { status } = await sending.finally(() => vi.unstubAllGlobals())
    expect(status).toBe(401)
  })

  it.each(['preproduction', 'test-eu'])('is explained in the environment %s', async (environment) => {
    const warn = warnings(environment)
    await sendTwice('https://other.example.com/orders', 401)
    expect(warn).toHaveBeenCalledOnce()
  })

  it.each([
    ['for another status', 'development', 'https://other.example.com', 403],
    ['for an allowed origin', 'development', api, 401],
    ['in production', 'production', 'https://other.example.com', 401],
    ['in a test', 'test', 'https://other.example.com', 401],
  ])('is not explained %s', async (_when, environment, url, status) => {
    const warn = warnings(environment)
    await sendTwice(url, status)
    expect(warn).not.toHaveBeenCalled()
  })
})

describe('a request whose token was rejected', () => {
  it('is sent once more, with a new token', async () => {
    const { attacher, endpoint, events } = start()
    const discard = vi.fn()
    const { sent, status } = await sendThrough(attacher, get(api), [{ ...rejection, discard }, fine])
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(status).toBe(200)
    expect(discard).toHaveBeenCalledOnce()
    expect(endpoint.requests).toHaveLength(2)
    expect(events).toContainEqual(expect.objectContaining({ type: 'token_rejected', origin: api }))
  })

  it('is sent no third time', async () => {
    const { attacher } = start()
    const discard = vi.fn()
    const { sent, status } = await sendThrough(attacher, get(api), [{ ...rejection, discard }])
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(status).toBe(401)
    // The caller gets the last response.
    expect(discard).toHaveBeenCalledOnce()
  })

  it.each([200, 204, 304, 400, 403, 404, 429, 500])('is no request with the response %d', async (status) => {
    for (const options of [{}, { isTokenRejected: () => undefined }]) {
      const { attacher, tokens } = start({}, options)
      const call = await sendThrough(attacher, get(api), [{ status }])
      expect(call).toMatchObject({ status, sent: ['Bearer token-1'] })
      expect(tokens.peekToken()?.value).toBe('token-1')
    }
  })

  it.each([
    ['null', () => null],
    ['a promise of null', async () => null],
  ])('is recognised by the built-in rules if isTokenRejected returns %s', async (_name, decide) => {
    const isTokenRejected = decide as unknown as AttachOptions['isTokenRejected']
    const { attacher } = start({}, { isTokenRejected })
    const { sent } = await sendThrough(attacher, get(api), [rejection, fine])
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-2'])
  })

  it.each([
    ['`repeatable: false`', { repeatable: false }, {}],
    ['isRepeatable()', {}, { isRepeatable: async () => false }],
  ])(
    'is not sent again if it cannot be, by %s: the token is refreshed in the background',
    async (_how, request, response) => {
      const { attacher, endpoint, events, tokens } = start((request) => ({
        latencyMs: request === 1 ? 0 : 100,
      }))
      const first = await sendThrough(attacher, { ...get(api), ...request }, [{ ...rejection, ...response }])
      expect(first).toMatchObject({ status: 401, sent: ['Bearer token-1'] })
      // Requests that can be repeated use the old token meanwhile; others wait for the new one.
      expect((await sendThrough(attacher, get(api))).sent).toEqual(['Bearer token-1'])
      const waiting = watch(sendThrough(attacher, { ...get(api), repeatable: false }))
      await pass(100)
      expect(waiting.value?.sent).toEqual(['Bearer token-2'])
      expect(tokens.peekToken()?.value).toBe('token-2')
      expect(endpoint.requests).toHaveLength(2)
      const reasons = events.flatMap((event) => (event.type === 'token_requested' ? [event.reason] : []))
      expect(reasons).toEqual(['first', 'rejected'])
    },
  )

  it('is not sent again with `retryOnRejection: false`; the next request gets a new token', async () => {
    const { attacher } = start({}, { retryOnRejection: false })
    expect((await sendThrough(attacher, get(api), [rejection])).sent).toEqual(['Bearer token-1'])
    expect((await sendThrough(attacher, get(api))).sent).toEqual(['Bearer token-2'])
  })

  it.each([
    ['down', { status: 503 }, 'unavailable'],
    ['throttling requests', { status: 429, headers: { 'retry-after': '90' } }, 'throttled'],
    ['rejecting the credentials', wrongSecret, 'credentials'],
    ['rejecting the request', { status: 400, body: { error: 'invalid_scope' } }, 'configuration'],
  ])(
    'fails with the error of a token service that is %s, not with the 401 that hides it',
    async (_, response, kind) => {
      const { attacher } = start((request) => (request === 1 ? {} : response))
      for (let call = 0; call < 2; call++) {
        const failed = watch(sendThrough(attacher, get(api), [rejection]))
        await pass(30_000)
        // The cause is what the adapter returns for the response of the API.
        expect(failed.error).toMatchObject({ name: 'TokenError', kind, cause: 401 })
      }
    },
  )

  it('gets the response of the API if the provider was closed in the meantime', async () => {
    const { attacher, tokens } = start((request) => ({ latencyMs: request === 1 ? 0 : 1_000 }))
    const call = watch(sendThrough(attacher, get(api), [rejection]))
    await pass(500)
    await tokens.close()
    await pass(0)
    expect(call.value?.status).toBe(401)
  })

  it('ends the pause that a request which cannot be repeated began, once its path accepts the new token', async () => {
    const { attacher, endpoint } = start()
    const upload = { method: 'POST', url: `${api}/files`, repeatable: false }
    const other = { method: 'POST', url: `${api}/others`, repeatable: false }
    for (let revocation = 1; revocation <= 8; revocation++) {
      await sendThrough(attacher, upload, [rejection])
      await pass(20)
      expect((await sendThrough(attacher, upload)).status).toBe(200)
      expect((await sendThrough(attacher, get(`${api}/files`), [rejection, fine])).status).toBe(200)
    }
    expect(endpoint.requests).toHaveLength(17)
    // A success elsewhere says nothing about a path.
    await sendThrough(attacher, other, [rejection])
    await pass(20)
    await sendThrough(attacher, get(`${api}/files`))
    // Nor does one at that path to a request that lost its token by a redirect.
    const redirected = { ...fine, url: `${api}/others`, hasToken: false }
    await sendThrough(attacher, get(`${api}/files`), [redirected])
    expect((await sendThrough(attacher, get(`${api}/others`), [rejection, fine])).status).toBe(401)
  })

  it.each([
    ['until the signal of the request', 0, 'the reason'],
    ['for at most 30 s, and then as the rules say', 30_000, undefined],
  ])('waits for a decision of the application %s', async (_, ms, reason) => {
    const { attacher } = start({}, { isTokenRejected: () => new Promise(() => {}) })
    const controller = new AbortController()
    const call = watch(sendThrough(attacher, get(api), [fine], controller.signal))
    await pass(29_999)
    expect(call.state).toBe('pending')
    if (reason) controller.abort(reason)
    await pass(ms)
    expect(call).toMatchObject(reason ? { state: 'rejected', error: reason } : { value: { status: 200 } })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is not sent again if the server issues the same token again', async () => {
    const { attacher, endpoint } = start({
      body: { access_token: 'same', token_type: 'Bearer', expires_in: 60 },
    })
    for (let call = 0; call < 100; call++)
      expect((await sendThrough(attacher, get(`${api}/${call}`), [rejection])).sent).toEqual(['Bearer same'])
    expect(endpoint.requests).toHaveLength(21)
  })

  it('is sent again less often if an API rejects every new token', async () => {
    const { attacher, endpoint } = start()
    const repeatedAt: number[] = []
    for (let tenth = 0; tenth < 250; tenth++) {
      const { sent } = await sendThrough(attacher, get(`${api}/broken`), [rejection])
      if (sent.length > 1) repeatedAt.push(tenth / 10)
      await pass(100)
    }
    expect(repeatedAt).toEqual([0, 1, 3, 7, 15])
    expect(endpoint.requests).toHaveLength(6)
  })

  it.each([
    ['a provider', (source: TokenSource) => createTokenProvider(source)],
    [
      'a key of a pool',
      (source: TokenSource) => createTokenPool((_key: string) => createTokenProvider(source)).for('a'),
    ],
  ])('is sent again as often as the API accepts the new tokens of %s', async (_name, tokensOf) => {
    const endpoint = new ScriptedEndpoint()
    const attacher = createTokenAttacher(tokensOf(sourceOf(endpoint)), { allowedOrigins: [api] })
    for (let revocation = 0; revocation < 15; revocation++)
      expect((await sendThrough(attacher, get(api), [rejection, fine])).status).toBe(200)
    expect(endpoint.requests).toHaveLength(16)
  })

  it('is not sent again to an API that rejects tokens on many paths', async () => {
    const { attacher, endpoint } = start()
    const repeated: boolean[] = []
    for (let path = 0; path < 30; path++) {
      const { sent } = await sendThrough(attacher, get(`${api}/${path}`), [rejection, fine])
      repeated.push(sent.length > 1)
    }
    expect(repeated).toEqual([...Array<boolean>(20).fill(true), ...Array<boolean>(10).fill(false)])
    expect(endpoint.requests).toHaveLength(21)
  })

  it('does not affect other paths and origins if one path rejects every token', async () => {
    const other = 'https://other.example.com'
    const { attacher, endpoint } = start({}, { allowedOrigins: [api, other] })
    for (let path = 0; path < 30; path++)
      await sendThrough(attacher, get(`${api}/${path}`), [rejection, fine])
    const { sent } = await sendThrough(attacher, get(other), [rejection, fine])
    expect(new Set(sent).size).toBe(2)
    expect(endpoint.requests).toHaveLength(22)
  })

  it('limits the 100 origins that rejected tokens last', async () => {
    const { attacher } = start({}, { allowedOrigins: [() => true] })
    const isRepeated = async (url: string) =>
      (await sendThrough(attacher, get(url), [rejection, fine])).sent.length > 1
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

  it('leaves the token in use for other requests until a replacement is available', async () => {
    const { attacher, endpoint } = start((request) => (request === 1 ? {} : { status: 503, body: 'down' }))
    const call = watch(sendThrough(attacher, get(api), [rejection]))
    await pass(30_000)
    expect(call.error).toMatchObject({ kind: 'unavailable', cause: 401 })
    expect((await sendThrough(attacher, get(`${api}/healthy`))).sent).toEqual(['Bearer token-1'])
    expect(endpoint.requests).toHaveLength(4)
  })

  it('is sent again with the current token if an older one was rejected late', async () => {
    const { attacher, endpoint } = start()
    const late = watch(
      sendThrough(attacher, get(api), [
        {
          ...rejection,
          readBody: () => new Promise((resolve) => setTimeout(resolve, 50, '{}')),
          headers: { 'content-type': 'application/json' },
        },
        fine,
      ]),
    )
    await pass(10)
    await sendThrough(attacher, get(api), [rejection, fine])
    await pass(50)
    expect(late.value?.sent).toEqual(['Bearer token-1', 'Bearer token-2'])
    expect(endpoint.requests).toHaveLength(2)
  })

  it('fails with the reason of the signal if the caller has aborted in the meantime', async () => {
    const { attacher } = start((request) => ({ latencyMs: request === 1 ? 0 : 1_000 }))
    const controller = new AbortController()
    const call = watch(sendThrough(attacher, get(api), [rejection], controller.signal))
    await pass(500)
    controller.abort('enough')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'enough' })
  })

  it('is not a request that was redirected to another origin, because the token was not sent there', async () => {
    const { attacher, tokens } = start()
    const other = await sendThrough(attacher, get(api), [{ ...rejection, url: 'https://cdn.example.net/x' }])
    expect(other.sent).toEqual(['Bearer token-1'])
    expect(tokens.peekToken()?.value).toBe('token-1')
    const same = await sendThrough(attacher, get(api), [{ ...rejection, url: `${api}/moved` }, fine])
    expect(same.sent).toEqual(['Bearer token-1', 'Bearer token-2'])
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
  await expect(sendThrough(attacher, get(api))).rejects.toMatchObject({
    kind: 'configuration',
    message: 'The token is bound to a key (DPoP), but its source has no binding. Set binding: dpop().',
  })
})
