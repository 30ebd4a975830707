import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import {
  backendTokens,
  clientCredentials,
  createTokenFetch,
  createTokenProvider,
  type ClientCredentialsOptions,
  type TokenEvent,
} from '@tokenwell/core'
import { parseTokenResponse } from '@tokenwell/core/protocol'
import { createGrantSource } from '@tokenwell/core/adapter'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, type ScriptedResponse } from '../support/scripted-endpoint.ts'

useFakeTime()

const secret = 'canary-Secret_0.9~!"&=% '.trim()
const token = 'canary-Token_0.9'
/** Its forms in a form body, a header, JSON and a URL. */
const traces = [
  secret,
  token,
  encodeURIComponent(secret),
  new URLSearchParams({ secret }).toString().slice(7),
  JSON.stringify(secret).slice(1, -1),
  btoa(secret),
  'canary',
]

/** Every way in which a value may be logged. */
function shown(thing: unknown): string {
  const error = thing as Error
  return [
    inspect(thing, { depth: 10, showHidden: true }),
    inspect(thing, { depth: 10, showHidden: true, customInspect: false }),
    JSON.stringify(thing),
    String(thing),
    ...(thing instanceof Error
      ? [error.message, String(error.stack), inspect(error.cause, { depth: 10, showHidden: true })]
      : []),
  ].join('\n')
}

function expectNoTrace(thing: unknown): void {
  const text = shown(thing)
  for (const trace of traces) expect(text).not.toContain(trace)
}

const echo = `the secret ${secret} and the token ${token}`
const failures: [string, ScriptedResponse][] = [
  [
    'an OAuth error that quotes it',
    { status: 401, body: { error: 'invalid_client', error_description: echo } },
  ],
  [
    'an OAuth error made of it',
    { status: 400, body: { error: echo, error_description: echo, error_uri: echo } },
  ],
  ['a gateway’s error that quotes it', { status: 401, body: { ErrorCode: 'invalid_client', Error: echo } }],
  ['a gateway’s error made of it', { status: 500, body: { ErrorCode: secret, Error: echo } }],
  [
    'a fault that quotes it',
    { status: 500, body: { fault: { faultstring: echo, detail: { errorcode: echo } } } },
  ],
  ['a success that carries an error', { status: 200, body: { access_token: token, error: echo } }],
  ['a token of another type', { status: 200, body: { access_token: token, token_type: secret } }],
  ['a token with a line break', { status: 200, body: { access_token: `${token}\n`, token_type: 'Bearer' } }],
  ['a truncated response', { status: 200, body: `{"access_token":"${token}` }],
  ['a page that quotes it', { status: 502, body: `<html>${echo}</html>` }],
  [
    'a redirect with it in the address',
    { status: 302, headers: { location: `https://example.com/?s=${token}` }, body: '' },
  ],
  ['a throttled response', { status: 429, headers: { 'retry-after': '99999' }, body: echo }],
  ['a fetch that throws it', { error: new Error(echo) }],
  ['a fetch that throws its cause', { error: new TypeError('fetch failed', { cause: new Error(echo) }) }],
  [
    'a fetch that throws it with a code',
    { error: Object.assign(new Error(echo), { code: 'ECONNRESET', config: { data: echo } }) },
  ],
  ['a fetch that throws a string', { error: echo }],
  ['a fetch that names its error so', { error: Object.assign(new Error('x'), { name: echo, code: echo }) }],
]

const options = {
  tokenEndpoint: `https://auth.example.com/token?key=${token}`,
  clientId: 'client',
  clientSecret: secret,
}

describe('neither secret nor token is shown', () => {
  const cases = failures.flatMap(([name, response]) =>
    (['client_secret_post', 'client_secret_basic'] as const).map((way) => [name, way, response] as const),
  )
  it.each(cases)('in the errors and events of %s (%s)', async (_name, clientAuthentication, response) => {
    const endpoint = new ScriptedEndpoint(response)
    const events: TokenEvent[] = []
    const tokens = clientCredentials({
      ...options,
      clientAuthentication,
      fetch: endpoint.fetch,
      onEvent: (event) => events.push(event),
    })
    const apiFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'] })
    const first = watch(tokens.getToken())
    await pass(30_000)
    const duringCooldown = watch(tokens.getToken())
    const forced = watch(tokens.getToken({ forceRefresh: true }))
    const attached = watch(apiFetch('https://api.example.com/'))
    await pass(30_000)
    for (const { error } of [first, duringCooldown, forced, attached]) {
      expect(error).toMatchObject({ name: 'TokenError' })
      expectNoTrace(error)
    }
    expect(events.length).toBeGreaterThan(0)
    expectNoTrace(events)
    expectNoTrace(tokens)
  })

  it.each<[string, Partial<ClientCredentialsOptions>]>([
    ['an insecure address', { tokenEndpoint: `http://auth.example.com/${token}?key=${secret}` }],
    [
      'an address with a password',
      { tokenEndpoint: `https://user:${encodeURIComponent(secret)}@auth.example.com/` },
    ],
    ['no address at all', { tokenEndpoint: secret }],
    [
      'a platform address with a query',
      { tokenEndpoint: undefined, authUrl: `https://auth.example.com/?key=${token}` },
    ],
    ['a secret with a line break', { clientSecret: `${secret}\n` }],
    ['a client ID with a line break', { clientId: `${secret}\n` }],
    ['a reserved parameter', { parameters: { client_secret: secret } }],
  ])('in the error for %s', (_name, invalid) => {
    let thrown: unknown
    try {
      clientCredentials({ ...options, ...invalid })
    } catch (error) {
      thrown = error
    }
    expect(thrown).toMatchObject({ name: 'TokenError', kind: 'configuration' })
    expectNoTrace(thrown)
  })

  it.each([
    [
      'throws it',
      () => {
        throw new Error(echo)
      },
    ],
    ['rejects with it', () => Promise.reject(new Error(echo, { cause: echo }))],
    ['gives it with a line break', () => `${secret}\n`],
    ['gives it in an object', () => ({ secret }) as never],
  ])('when a secret function %s', async (_name, clientSecret) => {
    const events: TokenEvent[] = []
    const tokens = clientCredentials({
      ...options,
      clientSecret,
      fetch: new ScriptedEndpoint().fetch,
      onEvent: (event) => events.push(event),
    })
    const call = watch(tokens.getToken())
    await pass(30_000)
    expect(call.error).toMatchObject({ name: 'TokenError' })
    expectNoTrace(call.error)
    expectNoTrace(events)
  })

  it.each<[string, ScriptedResponse]>([
    ['an OAuth error', { status: 400, body: { error: 'canary-Secret_0.9' } }],
    ['a gateway’s error', { status: 500, body: { ErrorCode: 'canary-Secret_0.9' } }],
    ['a fault', { status: 401, body: { fault: { detail: { errorcode: 'x.canary-Secret_0.9' } } } }],
    [
      'the code of what a fetch throws',
      { error: Object.assign(new Error('x'), { code: 'canary-Secret_0.9' }) },
    ],
    [
      'the name of what a fetch throws',
      { error: Object.assign(new Error('x'), { name: 'canary-Secret_0.9' }) },
    ],
  ])('if a secret that looks like a code is in %s', async (_name, response) => {
    const events: TokenEvent[] = []
    const { fetch } = new ScriptedEndpoint(response)
    const tokens = clientCredentials({
      ...options,
      clientSecret: 'canary-Secret_0.9',
      fetch,
      maxAttempts: 1,
      onEvent: (event) => events.push(event),
    })
    const error: unknown = await tokens.getToken().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'TokenError' })
    expectNoTrace(error)
    expectNoTrace(events)
    expectNoTrace(await tokens.getToken().catch((thrown: unknown) => thrown))
  })

  const sent: [string, Partial<ClientCredentialsOptions>, string[]][] = [
    [
      'a header',
      { headers: { 'X-Api-Key': 'key & 7 of orders' } },
      ['key & 7 of orders', 'key+%26+7+of+orders'],
    ],
    ['a header with a scheme', { headers: { 'x-gateway': 'ApiKey orders-gateway-7' } }, ['orders-gateway-7']],
    ['a parameter', { parameters: { password: 'correct horse' } }, ['correct horse', 'correct+horse']],
    ['a number', { parameters: { pin: 12_345_678 } }, ['12345678']],
    ['the URL', { tokenEndpoint: 'https://a.example/token?key=orders-7' }, ['orders-7']],
    [
      'two values, one within the other',
      { headers: { 'x-a': 'orders-gateway' }, parameters: { b: 'orders-gateway-7' } },
      ['orders-gateway-7', 'orders-gateway'],
    ],
  ]
  it.each(sent)('if a server repeats %s', async (_, more, echoes) => {
    const body = { error: 'invalid_request', error_description: `not valid: ${echoes.join(', ')}` }
    const { fetch } = new ScriptedEndpoint({ status: 400, body })
    const tokens = clientCredentials({ ...options, ...more, fetch })
    await expect(tokens.getToken()).rejects.toMatchObject({
      reason: `not valid: ${echoes.map(() => '[redacted]').join(', ')}`,
    })
  })

  it('while values that are public by their name, or short, stay', async () => {
    const body = {
      error: 'invalid_scope',
      error_description: 'orders:write of the-client for https://api.example, 1234567',
    }
    const { fetch } = new ScriptedEndpoint({ status: 400, body })
    const tokens = clientCredentials({
      ...options,
      clientId: 'the-client',
      scope: 'orders:write',
      audience: 'https://api.example',
      headers: { 'User-Agent': 'client for https://api.example' },
      parameters: { pin: 1_234_567 },
      fetch,
    })
    await expect(tokens.getToken()).rejects.toMatchObject({
      reason: body.error_description,
    })
  })

  it('by an error whose code repeats the secret: its message says what failed', async () => {
    const error = Object.assign(new Error('x'), { code: 'canary-Secret_0.9' })
    const { fetch } = new ScriptedEndpoint({ error })
    await expect(
      clientCredentials({ ...options, clientSecret: 'canary-Secret_0.9', fetch, maxAttempts: 1 }).getToken(),
    ).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'Could not reach the token endpoint.',
    })
  })

  it('in a provider, its source, its token and its events', async () => {
    const events: TokenEvent[] = []
    const body = { access_token: token, token_type: 'Bearer', expires_in: 100, refresh_token: secret }
    const source = createGrantSource({ ...options, fetch: new ScriptedEndpoint({ body }).fetch })
    const tokens = createTokenProvider(source, { onEvent: (event) => events.push(event) })
    const issued = await tokens.getToken()
    expect(issued.value).toBe(token)
    expect(issued.response).toMatchObject({ accessToken: token, refreshToken: secret })
    await pass(90_000)
    await tokens.getToken()
    tokens.reject(issued)
    for (const thing of [source, tokens, issued, events, { nested: [issued, tokens] }]) expectNoTrace(thing)
    expect(JSON.stringify(issued.response)).not.toContain('canary')
    expect(inspect(issued.response, { depth: 10, showHidden: true })).not.toContain('canary')
    expect(JSON.stringify({ ...issued.response })).not.toContain('canary')
    expect(JSON.parse(JSON.stringify(tokens))).toEqual({
      source: JSON.parse(JSON.stringify(source)) as unknown,
      token: { value: '[redacted]', tokenType: 'Bearer', expiresAt: issued.expiresAt.toISOString() },
    })
    expect(inspect(tokens)).toMatch(/clientId.*expiresAt/s)
  })

  it('in the errors of a backend', async () => {
    for (const [, response] of failures) {
      const tokens = backendTokens({
        url: `https://app.example.com/token?key=${token}`,
        headers: () => ({ 'x-csrf': secret }),
        fetch: new ScriptedEndpoint(response).fetch,
        maxAttempts: 1,
      })
      const call = watch(tokens.getToken())
      await pass(30_000)
      expect(call.state).toBe('rejected')
      expectNoTrace(call.error)
      expectNoTrace(tokens)
    }
  })

  it('in errors of the parser', () => {
    for (const [, { status = 200, headers = {}, body }] of failures) {
      if (body === undefined) continue
      let thrown: unknown
      try {
        parseTokenResponse(status, headers, typeof body === 'string' ? body : JSON.stringify(body))
      } catch (error) {
        thrown = error
      }
      expectNoTrace(thrown)
    }
  })
})
