import {
  awsIdentity,
  azureIdentity,
  gcpIdentity,
  githubActionsIdentity,
  type AwsIdentityOptions,
  type IdentitySource,
} from '@tokenwell/client-authentication'
import {
  clientAssertion,
  clientCredentials,
  createTokenPool,
  jwtBearer,
  tokenExchange,
  type FetchLike,
  type TokenProvider,
} from '@tokenwell/core'
import { json, startScriptedServer, type ScriptedResponse } from '@tokenwell/internal-testing'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

const audience = 'https://auth.example.test'
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwtOf = (claims: Record<string, unknown> = {}) =>
  `${base64({ alg: 'RS256' })}.${base64({ aud: audience, exp: Math.floor(Date.now() / 1_000) + 600, ...claims })}.c2ln`

afterEach(() => {
  vi.unstubAllEnvs()
})

/** A server that takes the place of the provider's fixed address. */
async function provider(respond: () => ScriptedResponse | Promise<ScriptedResponse>) {
  const server = await startScriptedServer(respond)
  onTestFinished(() => server.close())
  const urls: unknown[] = []
  const fetch: FetchLike = (input, init) => {
    urls.push(input)
    const url = new URL(input as string)
    return globalThis.fetch(new URL(`${url.pathname}${url.search}`, server.origin), init)
  }
  return { server, urls, fetch }
}

const sources: [
  name: string,
  create: (fetch: FetchLike) => IdentitySource,
  body: (jwt: string) => ScriptedResponse,
  url: string,
  header: [name: string, value: string],
][] = [
  [
    'GitHub Actions',
    (fetch) => githubActionsIdentity({ audience, fetch }),
    (value) => json({ value }),
    'https://actions.example.test/token?api=2&audience=https%3A%2F%2Fauth.example.test',
    ['authorization', 'Bearer a-request-token'],
  ],
  [
    'Google Cloud',
    (fetch) => gcpIdentity({ audience, fetch }),
    (jwt) => ({ headers: { 'metadata-flavor': 'Google' }, body: jwt }),
    'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity?audience=https%3A%2F%2Fauth.example.test&format=full',
    ['metadata-flavor', 'Google'],
  ],
  [
    'Azure',
    (fetch) => azureIdentity({ audience, fetch }),
    (access_token) => json({ access_token }),
    'http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=https%3A%2F%2Fauth.example.test',
    ['metadata', 'true'],
  ],
]

describe.each(sources)('the identity in %s', (_name, create, body, url, [header, value]) => {
  beforeEach(() => {
    vi.stubEnv('ACTIONS_ID_TOKEN_REQUEST_URL', 'https://actions.example.test/token?api=2')
    vi.stubEnv('ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'a-request-token')
    for (const name of ['IDENTITY_ENDPOINT', 'IDENTITY_HEADER']) vi.stubEnv(name, '')
  })

  it('is requested as documented when it is needed, and again before it expires', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    const { server, urls, fetch } = await provider(() => body(jwtOf()))
    const identity = create(fetch)
    expect(urls).toEqual([])
    const first = await identity()
    expect(await identity()).toBe(first)
    expect(urls).toEqual([url])
    expect(server.requests[0]?.headers[header]).toBe(value)
    vi.setSystemTime(Date.now() + 541_000)
    expect(await identity()).not.toBe(first)
    expect(urls).toEqual([url, url])
  })

  it.each<[string, () => ScriptedResponse, kind: string, message: RegExp]>([
    ['a rejection', () => json({}, 403), 'configuration', /rejected the request \(status 403\)\. \w/],
    ['a redirect', () => json({}, 302, { location: 'http://127.0.0.1:9/' }), 'configuration', /status 302/],
    ['an outage', () => json({}, 503), 'unavailable', /failed \(status 503\)/],
    ['10 MB', () => body('x'.repeat(10_000_000)), 'unavailable', /contains no JWT/],
    ['no JWT', () => body('the-secret'), 'unavailable', /contains no JWT/],
    ['an expired JWT', () => body(jwtOf({ exp: 1_000 })), 'unavailable', /has expired/],
  ])('is an error that says what to do after %s', async (_what, respond, kind, message) => {
    const { fetch } = await provider(respond)
    const error = (await create(fetch)().catch((failure: Error) => failure)) as Error
    expect(error).toMatchObject({ kind, message: expect.stringMatching(message) })
    expect(error.message).toMatch(/^The .*\.$/i)
    expect(error.message).not.toMatch(/a-request-token|the-secret|eyJ/)
  })

  it('is not waited for longer than its caller does', async () => {
    const { fetch } = await provider(() => new Promise<never>(() => {}))
    await expect(create(fetch)({ signal: AbortSignal.abort(new Error('Left')) })).rejects.toThrow('Left')
  })
})

describe('an identity that many token requests use', () => {
  const tokenEndpoint = new URL('https://auth.example.test/token')

  const numberOf = (jwt: string) =>
    (JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as { n: number }).n
  const tokenResponse = (value = 'a-token') =>
    Response.json({ access_token: value, token_type: 'Bearer', expires_in: 3600 })

  /** An identity whose service counts the JWTs that it issues, each with a number. */
  function counted(claims: (number: number) => object = () => ({})) {
    let issued = 0
    const fetch = vi.fn(async () => {
      issued++
      return Response.json({ access_token: jwtOf({ n: issued, ...claims(issued) }) })
    })
    const identity = azureIdentity({ audience, fetch: fetch as unknown as FetchLike })
    return {
      fetch,
      identity,
      ask: async (...request: Parameters<IdentitySource>) => numberOf(await identity(...request)),
    }
  }

  it('sends one request for 500 tenants', async () => {
    const { fetch, identity } = counted()
    const clientAuthentication = clientAssertion(identity)
    const pool = createTokenPool((tenant: string) =>
      clientCredentials({
        tokenEndpoint: `https://auth.example.test/${tenant}`,
        clientId: 'app',
        clientAuthentication,
        fetch: async () => tokenResponse(),
      }),
    )
    await Promise.all(Array.from({ length: 500 }, (_, tenant) => pool.for(`${tenant}`).getToken()))
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  const fetchThatRejectsTheFirst: FetchLike = async (_url, init) => {
    const form = new URLSearchParams(init?.body as URLSearchParams)
    const sent = numberOf(form.get('client_assertion') ?? form.get('assertion') ?? form.get('subject_token')!)
    return sent === 1
      ? Response.json({ error: 'invalid_client' }, { status: 401 })
      : tokenResponse(`for ${sent}`)
  }
  const options = { tokenEndpoint: tokenEndpoint.href, fetch: fetchThatRejectsTheFirst, maxAttempts: 1 }
  it.each<[string, (identity: IdentitySource) => TokenProvider]>([
    [
      'authenticates a client',
      (identity) =>
        clientCredentials({ ...options, clientId: 'app', clientAuthentication: clientAssertion(identity) }),
    ],
    ['is a grant', (assertion) => jwtBearer({ ...options, assertion, subject: 'app' })],
    ['is exchanged', (subjectToken) => tokenExchange({ ...options, subjectToken, subject: 'app' })],
  ])('is not sent again when it %s and the token endpoint rejected it', async (_how, create) => {
    const { fetch, identity } = counted()
    const tokens = create(identity)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    expect((await tokens.getToken({ forceRefresh: true })).value).toBe('for 2')
    expect((await tokens.getToken({ forceRefresh: true })).value).toBe('for 2')
    expect(fetch).toHaveBeenCalledTimes(2)
  })

  it('is kept when an endpoint rejects a former one', async () => {
    const { identity } = counted()
    const first = await identity()
    identity.reject(first)
    const second = await identity()
    identity.reject(first)
    expect(await identity()).toBe(second)
  })

  it('is sent to each token endpoint once if it has an ID, which a server may accept only once', async () => {
    const { fetch, ask } = counted((number) => ({ jti: `id-${number}` }))
    const other = new URL('https://other.example.test/token')
    const atOnce = await Promise.all([
      ...Array.from({ length: 20 }, () => ask({ tokenEndpoint })),
      ask({ tokenEndpoint: other }),
    ])
    expect(new Set(atOnce.slice(0, 20)).size).toBe(20)
    expect(fetch).toHaveBeenCalledTimes(20)
    expect(await ask({ tokenEndpoint: other })).toBe(20)
    expect(await ask({ tokenEndpoint: other })).toBe(21)
    expect(await ask({ tokenEndpoint })).toBe(21)
  })

  it('gives all who wait the same failure, and asks again for the next one', async () => {
    const { fetch, ask } = counted()
    fetch.mockImplementationOnce(async () => new Response('', { status: 503 }))
    const failed = await Promise.allSettled([ask({ tokenEndpoint }), ask()])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await ask({ tokenEndpoint })).toBe(1)
    expect(fetch).toHaveBeenCalledTimes(2)
  })

  it('outlives a caller that leaves', async () => {
    const { fetch, ask } = counted()
    const controller = new AbortController()
    const left = ask({ tokenEndpoint, signal: controller.signal })
    const stayed = ask({ tokenEndpoint })
    controller.abort(new Error('Left'))
    await expect(left).rejects.toThrow('Left')
    expect(await stayed).toBe(1)
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  it.each([
    ['is set back by an hour', 10 * 60_000, -60 * 60_000],
    ['goes on while the other one stops with the machine', 0, 10 * 60_000],
  ])('expires by the clock that advanced further: the wall clock %s', async (_what, monotonicMs, wallMs) => {
    const { ask } = counted()
    const [wall, monotonic] = [Date.now(), performance.now()]
    expect(await ask()).toBe(1)
    vi.spyOn(Date, 'now').mockReturnValue(wall + wallMs)
    vi.spyOn(performance, 'now').mockReturnValue(monotonic + monotonicMs)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(await ask()).toBe(2)
  })

  it('is requested with the fetch of the moment', async () => {
    const identity = gcpIdentity({ audience })
    const replaced = vi.fn(async () => new Response(jwtOf(), { headers: { 'metadata-flavor': 'Google' } }))
    vi.stubGlobal('fetch', replaced)
    onTestFinished(() => void vi.unstubAllGlobals())
    await identity()
    expect(replaced).toHaveBeenCalledTimes(1)
  })
})

it.each<[string, Record<string, string>, () => IdentitySource]>([
  [
    'ACTIONS_ID_TOKEN_REQUEST_URL',
    { ACTIONS_ID_TOKEN_REQUEST_TOKEN: 's' },
    () => githubActionsIdentity({ audience }),
  ],
  ['IDENTITY_ENDPOINT', { IDENTITY_HEADER: 'h' }, () => azureIdentity()],
])('names the variable %s if it contains no URL, without its value', async (name, others, create) => {
  for (const [other, value] of Object.entries(others)) vi.stubEnv(other, value)
  for (const value of ['not a canary', 'canary.example.test/token', 'file:///canary', 'http://[canary']) {
    vi.stubEnv(name, value)
    const identity = create()
    const tokens = clientCredentials({
      tokenEndpoint: 'https://auth.example.test/token',
      clientId: 'app',
      clientAuthentication: clientAssertion(identity),
      maxAttempts: 1,
    })
    for (const call of [identity(), tokens.getToken()]) {
      const error = (await call.catch((failure: Error) => failure)) as Error
      expect(error).toMatchObject({ kind: 'configuration', message: expect.stringContaining(name) })
      expect(error.message).not.toContain('canary')
    }
  }
})

it.each([
  ['GitHub Actions', 0],
  ['Google Cloud', 1],
  ['Azure', 2],
])('rejects a JWT of %s for another audience', async (_name, index) => {
  vi.stubEnv('ACTIONS_ID_TOKEN_REQUEST_URL', 'https://actions.example.test/token')
  vi.stubEnv('ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'a-request-token')
  const [, create, body] = sources[index]!
  const { fetch } = await provider(() => body(jwtOf({ aud: 'https://other.example.test' })))
  await expect(create(fetch)()).rejects.toThrow(`is not for the audience "${audience}"`)
})

it('names the variable that GitHub Actions did not set', async () => {
  vi.stubEnv('ACTIONS_ID_TOKEN_REQUEST_URL', '')
  await expect(githubActionsIdentity({ audience })()).rejects.toMatchObject({
    kind: 'configuration',
    message: expect.stringContaining('ACTIONS_ID_TOKEN_REQUEST_URL is not set.'),
  })
})

it('uses the endpoint of App Service, with its header', async () => {
  vi.stubEnv('IDENTITY_ENDPOINT', 'http://127.0.0.1:4141/msi/token')
  vi.stubEnv('IDENTITY_HEADER', 'a-header')
  const { server, urls, fetch } = await provider(() =>
    json({ access_token: jwtOf({ aud: 'api://AzureADTokenExchange' }) }),
  )
  await azureIdentity({ managedIdentityClientId: 'an-id', fetch })()
  expect(urls).toEqual([
    'http://127.0.0.1:4141/msi/token?api-version=2019-08-01&resource=api%3A%2F%2FAzureADTokenExchange&client_id=an-id',
  ])
  expect(server.requests[0]?.headers['x-identity-header']).toBe('a-header')
})

describe('the identity in AWS', () => {
  /** As the SDK's errors are. */
  const failure = (name: string, httpStatusCode?: number) =>
    Promise.reject(
      Object.assign(new Error('arn:aws:iam::123456789012:role/a-role may not'), {
        name,
        $metadata: { httpStatusCode },
      }),
    )
  const identityOf = (getWebIdentityToken: AwsIdentityOptions['sts']['getWebIdentityToken']) =>
    awsIdentity({ audience, sts: { getWebIdentityToken } })

  it('is requested once as long as it is valid', async () => {
    const request = vi.fn(async (_input: object) => ({ WebIdentityToken: jwtOf() }))
    const identity = identityOf(request)
    const jwt = await identity()
    expect(await identity()).toBe(jwt)
    expect(request.mock.calls.map(([input]) => input)).toEqual([
      { Audience: [audience], SigningAlgorithm: 'ES384' },
    ])
  })

  it.each<[string, () => Promise<{ WebIdentityToken?: string }>, kind: string, message: RegExp]>([
    ['no permission', () => failure('AccessDenied', 403), 'configuration', /sts:GetWebIdentityToken\.$/],
    [
      'a disabled federation',
      () => failure('OutboundWebIdentityFederationDisabledException', 400),
      'configuration',
      /Enable outbound identity federation/,
    ],
    ['no credentials', () => failure('CredentialsProviderError'), 'configuration', /Run this in AWS/],
    ['another rejection', () => failure('ValidationError', 400), 'configuration', /\(ValidationError\)\.$/],
    ['an outage', () => failure('InternalFailure', 500), 'unavailable', /failed \(status 500\)\.$/],
    ['throttling', () => failure('Throttling', 400), 'unavailable', /failed \(status 400\)\.$/],
    ['no connection', () => failure('Error'), 'unavailable', /could not be reached\. Check the network/],
    ['no JWT', async () => ({ WebIdentityToken: 'the-secret' }), 'unavailable', /contains no JWT/],
    ['an empty response', async () => ({}), 'unavailable', /contains no JWT/],
    [
      'an expired JWT',
      async () => ({ WebIdentityToken: jwtOf({ exp: 1_000 }) }),
      'unavailable',
      /has expired/,
    ],
    [
      'another audience',
      async () => ({ WebIdentityToken: jwtOf({ aud: 'x' }) }),
      'configuration',
      /is not for the audience/,
    ],
  ])('is an error that says what to do after %s', async (_what, respond, kind, message) => {
    const error = (await identityOf(respond)().catch((failure: Error) => failure)) as Error
    expect(error).toMatchObject({ kind, message: expect.stringMatching(message) })
    expect(error.message).toMatch(/^The .*\.$/)
    expect(`${error.message} ${String(error.cause)}`).not.toMatch(/the-secret|eyJ|a-role/)
  })

  it('is not waited for longer than its caller does, even if the SDK does', async () => {
    const controller = new AbortController()
    const call = identityOf(() => new Promise<never>(() => {}))({ signal: controller.signal })
    controller.abort(new Error('Left'))
    await expect(call).rejects.toThrow('Left')
  })
})
