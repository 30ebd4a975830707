import {
  clientAssertion,
  clientCredentials,
  createMemoryTokenStore,
  createTokenFetch,
  createTokenProvider,
  isTokenError,
  TokenError,
  type ClientAuthentication,
  type ClientCredentialsOptions,
  type TokenBinding,
} from '@tokenwell/core'
import { createTokenAttacher, type ApiResponse } from '@tokenwell/core/adapter'
import { parseTokenResponse } from '@tokenwell/core/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { get, sendThrough } from '../attach/send-through.ts'
import { collectGarbage } from '../support/collect-garbage.ts'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, wrongSecret } from '../support/scripted-endpoint.ts'

useFakeTime()
afterEach(() => vi.unstubAllGlobals())

const api = 'https://api.example.com'
const failureOf = (tokens: { getToken(): Promise<unknown> }) =>
  tokens.getToken().catch((error: unknown) => error)

describe('options that are functions', () => {
  it('are called for each token request, so that a module loads without its environment', async () => {
    const environment: Record<string, string> = {}
    const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
    const read = (name: string) => () => environment[name] as string
    const tokens = clientCredentials({
      tokenEndpoint: read('TOKEN_ENDPOINT'),
      clientId: read('CLIENT_ID'),
      clientSecret: read('CLIENT_SECRET'),
      fetch: endpoint.fetch,
    })
    expect(await failureOf(tokens)).toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('is missing') as string,
    })
    Object.assign(environment, {
      TOKEN_ENDPOINT: 'https://auth.example.com/token',
      CLIENT_ID: 'id',
      CLIENT_SECRET: 'secret',
    })
    tokens.reset()
    expect((await tokens.getToken()).value).toBe('token-1')
    expect(endpoint.requests[0]!.form.get('client_id')).toBe('id')
    expect(JSON.stringify(tokens)).toContain('{"tokenEndpoint":"[function]","clientId":"[function]"}')
  })

  it.each<Partial<ClientCredentialsOptions>>([
    { tokenEndpoint: () => 'http://auth.example.com' },
    { tokenEndpoint: () => Promise.resolve('nonsense') },
    { clientId: () => '' },
  ])('are checked when they have returned: %j', async (options) => {
    const endpoint = new ScriptedEndpoint()
    const tokens = createTokenProvider(sourceOf(endpoint, options))
    expect(await failureOf(tokens)).toMatchObject({ kind: 'configuration' })
    expect(endpoint.requests).toHaveLength(0)
  })

  it.each(['authUrl', 'tokenEndpoint', 'clientId', 'clientSecret'])(
    'are named if they fail: %s',
    async (name) => {
      const fails = () => Promise.reject(new RangeError('canary'))
      const source = sourceOf(
        new ScriptedEndpoint(),
        name === 'authUrl' ? { tokenEndpoint: undefined, authUrl: fails } : { [name]: fails },
      )
      expect(await failureOf(createTokenProvider(source, { maxAttempts: 1 }))).toMatchObject({
        kind: 'unavailable',
        message: `The ${name} function failed (RangeError).`,
      })
    },
  )

  it.each([
    new TokenError({ kind: 'configuration', message: 'The vault is locked.' }),
    Object.assign(new Error('used no-store fetch'), { digest: 'DYNAMIC_SERVER_USAGE' }),
  ])('may fail with an error that is passed on: %s', async (thrown) => {
    const source = sourceOf(new ScriptedEndpoint(), { clientSecret: () => Promise.reject(thrown) })
    const error = await failureOf(createTokenProvider(source))
    expect(error).toMatchObject({ name: thrown.name, message: thrown.message })
  })
})

describe('client authentication', () => {
  it('is created anew for each attempt, in the body, and never in the cache key', async () => {
    let created = 0
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { status: 503, body: '' } : {}))
    const clientAuthentication = clientAssertion(() => `jwt-${++created}\n`, { fingerprint: () => 'key-1' })
    const source = sourceOf(endpoint, { clientSecret: undefined, clientAuthentication })
    const call = watch(createTokenProvider(source).getToken())
    await pass(1_000)
    expect(call.state).toBe('resolved')
    expect(endpoint.requests.map(({ form }) => form.get('client_assertion'))).toEqual(['jwt-1', 'jwt-2'])
    expect(endpoint.requests[0]!.form.get('client_secret')).toBeNull()
    expect(endpoint.requests[0]!.form.get('client_assertion_type')).toBe(
      'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    )
    expect(await source.cacheKey()).toBe(await source.cacheKey())
    expect(created).toBe(2)
  })

  it('without a proof sends the client ID alone', async () => {
    const endpoint = new ScriptedEndpoint()
    await createTokenProvider(
      sourceOf(endpoint, { clientSecret: undefined, clientAuthentication: 'none' }),
    ).getToken()
    expect([...endpoint.requests[0]!.form.keys()]).toEqual(['grant_type', 'client_id'])
  })

  it('of a changed key ends the cooldown, at the first call after a second', async () => {
    let key = 'old'
    const endpoint = new ScriptedEndpoint(() =>
      endpoint.requests.at(-1)!.form.get('client_assertion') === 'new' ? {} : wrongSecret,
    )
    const clientAuthentication = clientAssertion(() => key, { fingerprint: () => key })
    const tokens = createTokenProvider(sourceOf(endpoint, { clientSecret: undefined, clientAuthentication }))
    await failureOf(tokens)
    await pass(1_000)
    await failureOf(tokens)
    key = 'new'
    await pass(1_000)
    await tokens.getToken()
    expect(endpoint.requests).toHaveLength(3)
  })

  it('may explain an error by the headers of the response', async () => {
    const endpoint = new ScriptedEndpoint({ ...wrongSecret, headers: { date: 'yesterday' } })
    const clientAuthentication: ClientAuthentication = {
      authenticate: () => {},
      fingerprint: () => 'key',
      explain: (error, headers) =>
        void (error.message += ` Its date is ${(headers as Headers).get('date')}.`),
    }
    const source = sourceOf(endpoint, { clientSecret: undefined, clientAuthentication })
    const error = (await failureOf(createTokenProvider(source))) as TokenError
    expect(error.message).toContain('Its date is yesterday.')
  })

  it('that fails names the client, but quotes none of its error', async () => {
    const clientAuthentication = clientAssertion(() => Promise.reject(new RangeError('canary')))
    const tokens = createTokenProvider(
      sourceOf(new ScriptedEndpoint(), { clientSecret: undefined, clientAuthentication }),
      { maxAttempts: 1 },
    )
    expect(await failureOf(tokens)).toMatchObject({
      kind: 'unavailable',
      message: 'The client authentication of "client" failed (RangeError).',
    })
  })
})

describe('errors', () => {
  it.each([
    [
      {},
      'secret-canary',
      "repeated the client's credentials in its response (400). Report this to its operators.",
    ],
    [
      { clientAuthentication: 'client_secret_basic' as const },
      btoa('client:secret-canary'),
      'rejected the request (400).',
    ],
    [{ clientSecret: 'canary' }, 'canary', "repeated the client's credentials in its response (400)."],
  ])('never repeat a secret in the form in which it was sent: %j', async (options, repeated, explanation) => {
    const endpoint = new ScriptedEndpoint({
      status: 400,
      body: { error: repeated, error_description: `got ${repeated}` },
    })
    const tokens = createTokenProvider(sourceOf(endpoint, { clientSecret: 'secret-canary', ...options }))
    const error = (await failureOf(tokens)) as TokenError
    expect(error.oauthError).toBeUndefined()
    expect(error.message).toContain(explanation)
    expect(error.message).not.toContain(repeated)
  })

  it('never repeat an assertion, but may repeat its type', async () => {
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    const body = { error: 'invalid_client', error_description: `got assertion-canary, a ${type}` }
    const endpoint = new ScriptedEndpoint({ status: 401, body })
    const clientAuthentication = clientAssertion(() => 'assertion-canary')
    const options = { clientSecret: undefined, clientAuthentication }
    const error = (await failureOf(createTokenProvider(sourceOf(endpoint, options)))) as TokenError
    expect(error.message).toContain(`"got [redacted], a ${type}"`)
  })

  it('never repeat a proof of possession', async () => {
    const body = { error: 'invalid_dpop_proof', error_description: 'got proof-canary' }
    const endpoint = new ScriptedEndpoint({ status: 400, body })
    const binding: TokenBinding = {
      tokenType: 'DPoP',
      checkShareable() {},
      fingerprint: () => 'key',
      send: (_url, send) => send({ dpop: 'proof-canary' }),
      prove: async () => ({}),
      receive: () => false,
    }
    const options = { binding }
    const error = (await failureOf(createTokenProvider(sourceOf(endpoint, options)))) as TokenError
    expect(error.oauthError).toBe('invalid_dpop_proof')
    expect(error.message).toMatch(/ "got \[redacted\]"$/)
  })

  it('keep an OAuth error that contains a short secret by chance', async () => {
    const endpoint = new ScriptedEndpoint({ status: 401, body: { error: 'invalid_client' } })
    const tokens = createTokenProvider(sourceOf(endpoint, { clientSecret: 'client' }))
    expect((await failureOf(tokens)) as TokenError).toMatchObject({ oauthError: 'invalid_client' })
  })

  it('have at most 300 characters of the reason', async () => {
    const body = { error: 'invalid_request', error_description: 'x'.repeat(301) }
    const endpoint = new ScriptedEndpoint({ status: 400, body })
    const { message } = (await failureOf(createTokenProvider(sourceOf(endpoint)))) as TokenError
    expect(message).toMatch(/[^x]"x{299}…"$/)
  })

  it.each([
    [{ error: 'invalid_request', error_description: 'the form\r\nhas \u202eno grant\u0007' }],
    [{ fault: { faultstring: 'the form\nhas no\tgrant', detail: { errorcode: 'steps.x' } } }],
  ])('end with the reason of the server, without control characters: %j', async (body) => {
    const endpoint = new ScriptedEndpoint({ status: 400, body })
    const { message } = (await failureOf(createTokenProvider(sourceOf(endpoint)))) as TokenError
    expect(message).toContain('rejected the request (400')
    expect(message.replace('has  no', 'has no')).toMatch(/ "the form has no grant"$/)
  })

  it('say what to write if the endpoint expects HTTP Basic', async () => {
    const headers = { 'www-authenticate': 'Basic realm="tokens"' }
    const endpoint = new ScriptedEndpoint({ status: 401, body: { error: 'invalid_client' }, headers })
    const { message } = (await failureOf(createTokenProvider(sourceOf(endpoint)))) as TokenError
    expect(message).toContain("set clientAuthentication: 'client_secret_basic'.")
    // Not at the platform's endpoint, which expects the form.
    const platform = { tokenEndpoint: undefined, authUrl: 'https://auth.example.com' }
    const failure = (await failureOf(createTokenProvider(sourceOf(endpoint, platform)))) as TokenError
    expect(failure.message).not.toContain('client_secret_basic')
  })

  it.each([404, 405])('say what to write if authUrl is the URL of a token endpoint: %d', async (status) => {
    const endpoint = new ScriptedEndpoint({ status, body: 'no such page' })
    const options = { tokenEndpoint: undefined, authUrl: 'https://auth.example.com/token' }
    const { message } = (await failureOf(createTokenProvider(sourceOf(endpoint, options)))) as TokenError
    expect(message).toMatch(/set tokenEndpoint instead; if it is an issuer, set issuer\.$/)
  })

  it('are a copy for each caller, whose stack names the caller', async () => {
    const endpoint = new ScriptedEndpoint({ status: 401, body: { error: 'invalid_client' } })
    const tokens = createTokenProvider(sourceOf(endpoint))
    const billing = async () => await tokens.getToken()
    const shipping = async () => await tokens.getToken()
    const [first, second] = (await Promise.all([billing, shipping].map(failing))) as [TokenError, TokenError]
    first.message = 'changed'
    expect(second).not.toBe(first)
    expect(second.message).toContain('rejected the client credentials')
    expect(first.stack).toContain('billing')
    expect(second.stack).toContain('shipping')
    expect(((await failing(billing)) as TokenError).message).toContain('Next attempt in')
  })

  it('keep the kind of a frozen error of a source', async () => {
    const requestToken = async (): Promise<never> => {
      throw Object.freeze(new TokenError({ kind: 'credentials', message: 'The vault rejected us.' }))
    }
    const tokens = createTokenProvider({ cacheKey: async () => 'key', requestToken })
    expect(await failureOf(tokens)).toMatchObject({ kind: 'credentials', message: 'The vault rejected us.' })
  })

  it.each(['ENOTFOUND', 'EAI_AGAIN'])('explain that a host cannot be resolved: %s', async (code) => {
    const endpoint = new ScriptedEndpoint({ error: new TypeError('fetch failed', { cause: { code } }) })
    const messageOf = async () =>
      ((await failureOf(createTokenProvider(sourceOf(endpoint), { maxAttempts: 1 }))) as TokenError).message
    for (const runner of ['VITEST', 'JEST_WORKER_ID', 'NODE_TEST_CONTEXT']) vi.stubEnv(runner, undefined)
    const explanation = `Could not resolve auth.example.com (${code}). Check the URL of the token endpoint.`
    expect(await messageOf()).toBe(explanation)
    for (const runner of ['VITEST', 'JEST_WORKER_ID', 'NODE_TEST_CONTEXT']) {
      vi.stubEnv(runner, '1')
      expect(await messageOf()).toBe(
        `${explanation} In a test, use createTestTokenProvider() instead of a real client ` +
          '(https://github.com/tokenwell/tokenwell/blob/main/docs/testing.md).',
      )
      vi.stubEnv(runner, undefined)
    }
    vi.unstubAllEnvs()
  })

  it('keep an error code that contains a short secret by chance', async () => {
    const endpoint = new ScriptedEndpoint({
      error: Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }),
    })
    const tokens = createTokenProvider(sourceOf(endpoint, { clientSecret: 'token' }), { maxAttempts: 1 })
    const error = (await failureOf(tokens)) as TokenError
    expect(error.message).toBe(
      'Could not reach the token endpoint https://auth.example.com/token (ECONNREFUSED).',
    )
    expect(error.cause).toMatchObject({ code: 'ECONNREFUSED' })
    expect(error).toMatchObject({ clientId: 'client', tokenEndpoint: 'https://auth.example.com/token' })
  })

  it('are recognised across copies of the package', async () => {
    const foreign = Object.assign(new Error('from another copy'), {
      [Symbol.for('tokenwell.TokenError')]: true,
    })
    expect(isTokenError(foreign)).toBe(true)
    expect(foreign).toBeInstanceOf(TokenError)
    class Derived extends TokenError {}
    expect(foreign).not.toBeInstanceOf(Derived)
    expect(isTokenError(new Error('other'))).toBe(false)
  })

  it('name an unset option of createTokenFetch', () => {
    const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
    expect(() => createTokenFetch(tokens, undefined as never)).toThrow(
      /^allowedOrigins is missing, and baseUrl/,
    )
  })
})

describe('a token response', () => {
  it('is refreshed when its server recommends it', async () => {
    const body = { access_token: 'early', expires_in: 3600, refresh_in: 100 }
    const endpoint = new ScriptedEndpoint({ body })
    const tokens = createTokenProvider(sourceOf(endpoint))
    await tokens.getToken()
    await pass(111_000)
    await tokens.getToken()
    await pass(0)
    expect(endpoint.requests).toHaveLength(2)
  })

  it('without a lifetime expires with its JWT, if that is sooner', async () => {
    const now = Math.floor(Date.now() / 1000)
    const jwt = (claims: object) => `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify(claims))}.signature`
    for (const [claims, seconds] of [
      [{ exp: now + 60 }, 60],
      [{ exp: now + 7200, iat: now + 7140 }, 60],
      [{ exp: now + 7200 }, 300],
      [{ exp: 'soon' }, 300],
      [{ exp: String(now + 60) }, 300],
    ] as const) {
      const endpoint = new ScriptedEndpoint({ body: { access_token: jwt(claims) } })
      const token = await createTokenProvider(sourceOf(endpoint)).getToken()
      expect((token.expiresAt.getTime() - Date.now()) / 1000).toBe(seconds)
    }
  })

  it('keeps unknown members, and hides them from logs', async () => {
    const body = {
      access_token: 'a',
      expires_in: 60,
      instance_url: 'https://na1.example.com',
      id_token: 'canary',
    }
    const token = await createTokenProvider(sourceOf(new ScriptedEndpoint({ body }))).getToken()
    expect(token.response.extra).toEqual({ instance_url: 'https://na1.example.com', id_token: 'canary' })
    expect(JSON.stringify(token.response)).not.toContain('canary')
  })

  it('may be form-encoded', () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' }
    expect(
      parseTokenResponse(200, headers, 'access_token=a%2Bb&token_type=bearer&expires_in=60'),
    ).toMatchObject({
      accessToken: 'a+b',
      expiresIn: 60,
    })
  })

  it('of a type that requires a key is not sent as a bearer token', async () => {
    const body = { access_token: 'bound', token_type: 'DPoP', expires_in: 60 }
    expect(await failureOf(createTokenProvider(sourceOf(new ScriptedEndpoint({ body }))))).toMatchObject({
      kind: 'malformed',
      message: expect.stringContaining(
        'issued a DPoP token instead of a Bearer token. Set binding: dpop().',
      ) as string,
    })
  })
})

describe('attaching', () => {
  const start = (options: object) => {
    const requests: Headers[] = []
    const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
    const responses: Response[] = []
    const tokenFetch = createTokenFetch(tokens, {
      allowedOrigins: [api],
      fetch: async (input, init) => {
        requests.push(new Request(input, init).headers)
        return responses.shift() ?? new Response('fine')
      },
      ...options,
    })
    return { requests, responses, tokenFetch, tokens }
  }

  it('replaces an existing header only with replaceHeader', async () => {
    const headers = { authorization: 'Bearer api-key', 'x-other': '1' }
    for (const replaceHeader of [false, true]) {
      const { requests, tokenFetch } = start({ replaceHeader })
      await tokenFetch(api, { headers })
      await tokenFetch(new Request(api, { headers }))
      const expected = replaceHeader ? 'Bearer token-1' : 'Bearer api-key'
      expect(requests.map((sent) => sent.get('authorization'))).toEqual([expected, expected])
      expect(requests.map((sent) => sent.get('x-other'))).toEqual(['1', '1'])
    }
  })

  it.each([200, 400, 403])(
    'calls isTokenRejected for a %d, and applies the built-in rules to undefined',
    async (status) => {
      const isTokenRejected = vi.fn(async (response: { status: number; readBody?: () => unknown }) =>
        response.status === 401 ? undefined : /expired/.test(String(await response.readBody?.())),
      )
      const { requests, responses, tokenFetch } = start({ isTokenRejected })
      responses.push(new Response('session expired', { status }))
      expect(await (await tokenFetch(api)).text()).toBe('fine')
      responses.push(new Response(null, { status: 401 }))
      expect(await (await tokenFetch(api)).text()).toBe('fine')
      expect(requests.map((sent) => sent.get('authorization'))).toEqual([
        'Bearer token-1',
        'Bearer token-2',
        'Bearer token-2',
        'Bearer token-3',
      ])
    },
  )

  it.each(['http://api.example.com', 'http://*.example.com'])(
    'rejects %s, unless plain HTTP is allowed',
    (origin) => {
      const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
      expect(() => createTokenAttacher(tokens, { allowedOrigins: [origin] })).toThrow(/must start with https/)
      expect(() =>
        createTokenAttacher(tokens, { allowedOrigins: [origin], allowInsecureRequests: true }),
      ).not.toThrow()
    },
  )

  it('sends no token over plain HTTP where a function allows it', async () => {
    const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
    const attacher = createTokenAttacher(tokens, { allowedOrigins: [() => true] })
    expect((await sendThrough(attacher, get('http://api.example.com'))).sent).toEqual([undefined])
    expect((await sendThrough(attacher, get('http://127.0.0.1:3000'))).sent).toEqual([expect.any(String)])
  })

  it.each(['https://*.co.uk', 'https://*.com.', 'https://*.com.au'])(
    'rejects %s, which covers other owners',
    (origin) => {
      const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint()))
      expect(() => createTokenAttacher(tokens, { allowedOrigins: [origin] })).toThrow(
        /domains of other owners/,
      )
    },
  )
})

describe('in a browser', () => {
  it.each([
    ['page', { window: { document: {} } }],
    ['worker', { WorkerGlobalScope: () => {}, navigator: { userAgent: 'Mozilla/5.0' } }],
  ])('clientCredentials throws in a %s', (_name, globals) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
    expect(() => sourceOf(new ScriptedEndpoint())).toThrow(/must not run in a browser/)
    expect(() => sourceOf(new ScriptedEndpoint(), { dangerouslyAllowBrowser: true })).not.toThrow()
  })

  it('a Worker of a server runtime is not a browser', () => {
    vi.stubGlobal('WorkerGlobalScope', () => {})
    vi.stubGlobal('navigator', { userAgent: 'Cloudflare-Workers' })
    expect(() => sourceOf(new ScriptedEndpoint())).not.toThrow()
  })
})

describe('the memory store', () => {
  it('removes expired entries, even if they are not read again', async () => {
    const store = createMemoryTokenStore()
    const released = new WeakRef(await fill(store, 0))
    await pass(2_000)
    for (let key = 1; key < 300; key++) await fill(store, key)
    vi.useRealTimers()
    await collectGarbage()
    expect(released.deref()).toBeUndefined()
    expect(await store.read('key-0')).toBeUndefined()
  })
})

async function fill(store: ReturnType<typeof createMemoryTokenStore>, key: number): Promise<object> {
  const response = { accessToken: `token-${key}`, tokenType: 'Bearer', scope: [] } as const
  const lease = (await store.lease(`key-${key}`, 1_000))!
  await lease.write(response, 1_000)
  return response
}

it('adds one listener to a signal that many callers share', async () => {
  const controller = new AbortController()
  const listen = vi.spyOn(controller.signal, 'addEventListener')
  const forget = vi.spyOn(controller.signal, 'removeEventListener')
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint({ latencyMs: 100 })))
  const calls = Array.from({ length: 100 }, () => watch(tokens.getToken({ signal: controller.signal })))
  await pass(100)
  expect(calls.every(({ state }) => state === 'resolved')).toBe(true)
  expect(listen).toHaveBeenCalledTimes(1)
  expect(forget).toHaveBeenCalledTimes(1)
})

describe('a rejected request of a fetch with tokens', () => {
  const start = (respond: (token: string | null) => Response, options = {}) => {
    const sent: Headers[] = []
    const fetch = createTokenFetch(createTokenProvider(sourceOf(new ScriptedEndpoint())), {
      allowedOrigins: [api],
      fetch: async (_input, init) => {
        sent.push(init?.headers as Headers)
        return respond(new Headers(init?.headers).get('authorization'))
      },
      ...options,
    })
    return { fetch, sent }
  }

  it('is recognised by isTokenRejected with any status, even when only a URL is passed', async () => {
    let rejected = ''
    const { fetch } = start((token) => new Response(token === rejected ? 'expired' : 'accepted'), {
      isTokenRejected: async ({ readBody }: ApiResponse) => (await readBody?.()) === 'expired',
    })
    for (const token of ['', 'Bearer token-1', 'Bearer token-2']) {
      rejected = token
      expect(await (await fetch(`${api}/orders`)).text()).toBe('accepted')
    }
  })

  it('leaves the headers of the first attempt unchanged', async () => {
    const { fetch, sent } = start(
      (token) => new Response('', { status: token === 'Bearer token-1' ? 401 : 200 }),
    )
    await fetch(`${api}/orders`, { headers: new Headers({ accept: 'text/plain' }) })
    expect(sent.map((headers) => headers.get('authorization'))).toEqual(['Bearer token-1', 'Bearer token-2'])
  })
})

async function failing(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call()
  } catch (error) {
    return error
  }
}
