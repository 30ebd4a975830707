import { SignJWT } from 'jose'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { clientAssertion } from '@tokenwell/core'
import {
  createTokenVerifier,
  TokenVerificationError,
  type IntrospectionOptions,
  type IssuerOptions,
  type TokenVerifierOptions,
  type VerifiedToken,
} from '@tokenwell/resource-server'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { createFakeClock } from '@tokenwell/core/testing'
import { expectNoSecrets } from '@tokenwell/internal-testing'
import { createSigningKey } from './servers/jwt-issuer.ts'
import { createVerifierUnderTest, delayIntrospection } from './verifier-under-test.ts'

const introspection = { authUrl: 'http://localhost', clientId: 'orders-api', clientSecret: 'orders-secret' }

function jwtOf(issuer: string): string {
  const encode = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, '')
  return `${encode({ alg: 'ES256', typ: 'at+jwt' })}.${encode({ iss: issuer })}.AAAA`
}

it('each address is passed to fetch as a string, which mocks of it expect', async () => {
  const issuer = 'https://auth.example.com'
  const bodies: Record<string, unknown> = {
    '/.well-known/oauth-authorization-server': { issuer, jwks_uri: `${issuer}/keys` },
    '/keys': { keys: [] },
    '/introspect': { active: false },
  }
  const addresses: unknown[] = []
  const fetch = async (address: string) => {
    addresses.push(address)
    return Response.json(bodies[address.replace(issuer, '')])
  }
  const byKeys = createTokenVerifier({ issuer, audience: 'orders', fetch })
  await expect(byKeys.verify(`Bearer ${jwtOf(issuer)}`)).rejects.toMatchObject({ status: 401 })
  const introspectionUrl = `${issuer}/introspect`
  const byIntrospection = createTokenVerifier({
    introspection: { introspectionUrl, clientId: 'orders-api', clientSecret: 'orders-secret' },
    fetch,
  })
  await expect(byIntrospection.verify('Bearer opaque')).rejects.toMatchObject({ status: 401 })
  expect(addresses).toEqual(Object.keys(bodies).map((path) => issuer + path))
})

describe('createTokenVerifier', () => {
  it.each<[string, TokenVerifierOptions]>([
    ['createTokenVerifier requires introspection, an issuer, or both.', {}],
    ['jwks and jwksUrl require an issuer.', { introspection, jwksUrl: 'https://auth.example.com/jwks' }],
    ['audience is missing.', { issuer: 'https://auth.example.com' }],
    ['audience is missing.', { issuer: 'https://auth.example.com', audience: [] }],
    ['issuer ', { issuer: 'auth.example.com', audience: 'orders' }],
    [
      'jwksUrl ',
      { issuer: 'https://auth.example.com', audience: 'orders', jwksUrl: 'http://auth.example.com/jwks' },
    ],
    [
      'introspection requires authUrl or introspectionUrl, but not both.',
      { introspection: { ...introspection, authUrl: undefined } },
    ],
    [
      'introspection requires authUrl or introspectionUrl, but not both.',
      { introspection: { ...introspection, introspectionUrl: 'https://auth.example.com' } },
    ],
    ['introspection.authUrl ', { introspection: { ...introspection, authUrl: 'http://auth.example.com' } }],
    ['introspection.clientId is missing.', { introspection: { ...introspection, clientId: '' } }],
    ['introspection.clientSecret is missing.', { introspection: { ...introspection, clientSecret: '' } }],
    [
      'introspection.clientSecret is missing.',
      { introspection: { ...introspection, clientSecret: undefined } },
    ],
    [
      "introspection.clientAuthentication must be 'client_secret_basic', 'client_secret_post', 'none' or a ClientAuthentication object.",
      { introspection: { ...introspection, clientAuthentication: 'jwt' as 'client_secret_post' } },
    ],
    ['maxCachedTokens must be a positive integer.', { introspection, maxCachedTokens: 0 }],
    ['maxCachedTokens ', { introspection, maxCachedTokens: Number.NaN }],
    ['maxCachedTokens ', { introspection, maxCachedTokens: 1.5 }],
    ['maxCachedTokens ', { introspection, maxCachedTokens: Infinity }],
    ['clockToleranceSeconds ', { introspection, clockToleranceSeconds: Number.NaN }],
    ['maxKeyAgeMs ', { introspection, maxKeyAgeMs: 0 }],
    ['maxKeyAgeMs ', { introspection, maxKeyAgeMs: Number.NaN }],
    ['introspection.cacheMs ', { introspection: { ...introspection, cacheMs: Number.NaN } }],
    ['introspection.staleIfErrorMs ', { introspection: { ...introspection, staleIfErrorMs: Number.NaN } }],
    ['introspection.timeoutMs ', { introspection: { ...introspection, timeoutMs: Number.NaN } }],
    ['introspection.timeoutMs ', { introspection: { ...introspection, timeoutMs: Infinity } }],
    ['introspection.maxConnections ', { introspection: { ...introspection, maxConnections: Number.NaN } }],
    ['introspection.maxConnections ', { introspection: { ...introspection, maxConnections: 0 } }],
    ['introspection.maxWaiting ', { introspection: { ...introspection, maxWaiting: Number.NaN } }],
    ['dpop.maxAgeSeconds ', { introspection, dpop: { maxAgeSeconds: Number.NaN } }],
    ['dpop.maxProofs ', { introspection, dpop: { maxProofs: Number.NaN } }],
    ['publicUrl is not a valid URL.', { introspection, publicUrl: 'api.example.com' }],
    ['publicUrl is not a valid URL.', { introspection, publicUrl: 'localhost:8080' }],
  ])('rejects options: %s', (message, options) => {
    const failure = expect.objectContaining({
      kind: 'configuration',
      message: expect.stringContaining(message),
    })
    expect(() => createTokenVerifier(options)).toThrow(failure)
  })

  it('allows plain HTTP with allowInsecureRequests', () => {
    const options = {
      introspection: { ...introspection, authUrl: 'http://auth.internal' },
      allowInsecureRequests: true,
    }
    expect(() => createTokenVerifier(options)).not.toThrow()
  })
})

describe('an introspection response', () => {
  it.each([
    [{ active: 'true' }, 'active', 'true', 'the boolean true'],
    [{ active: 'false' }, 'active', 'false', 'the boolean true'],
    [{ active: 1 }, 'active', '1', 'the boolean true'],
    [{}, 'active', null, 'the boolean true'],
    [null, 'active', null, 'the boolean true'],
    [{ active: true, exp: 'tomorrow' }, 'exp', 'tomorrow', 'a number'],
    [{ active: true, exp: '1e9' }, 'exp', '1e9', 'a number'],
    [{ active: true, exp: { seconds: 5 } }, 'exp', '{"seconds":5}', 'a number'],
    [{ active: true, nbf: '' }, 'nbf', '', 'a number'],
  ])('%j rejects its token with a reason, and no others', async (response, claim, received, expected) => {
    const underTest = createVerifierUnderTest()
    underTest.respond = (token) => (token === 'odd' ? Response.json(response) : { active: true })
    await expect(underTest.verifier.verify('Bearer odd')).rejects.toMatchObject({
      status: 401,
      reason: { claim, received, expected },
    })
    expect(await underTest.statusOf('other')).toBe(200)
  })

  it('may have its times as text, or null for none', async () => {
    const underTest = createVerifierUnderTest()
    const { clock, statusOf, verifier } = underTest
    const exp = Math.floor(clock.now() / 1000) + 5
    underTest.respond = () => ({ active: true, exp: String(exp), nbf: null })
    expect(await verifier.verify('Bearer a')).toMatchObject({
      expiresAt: new Date(exp * 1000),
      claims: { exp },
    })
    clock.advance(5_000)
    expect(await statusOf('a')).toBe(401)
    underTest.respond = () => ({ active: true, exp: null })
    expect((await verifier.verify('Bearer b')).expiresAt).toBeUndefined()
  })

  it('without an audience is accepted unless requireAudience is set', async () => {
    const reasonWith = async (requireAudience: boolean | undefined, aud: unknown) => {
      const underTest = createVerifierUnderTest({ requireAudience }, { audience: 'orders' })
      underTest.respond = () => ({ active: true, aud })
      return underTest.verifier.verify('Bearer a').then(
        () => undefined,
        ({ reason }: TokenVerificationError) => reason,
      )
    }
    expect(await reasonWith(undefined, undefined)).toBeUndefined()
    expect(await reasonWith(true, ['billing', 'orders'])).toBeUndefined()
    expect(await reasonWith(true, undefined)).toEqual({ claim: 'aud', received: null, expected: 'orders' })
    expect(await reasonWith(true, 'billing')).toMatchObject({ claim: 'aud', received: 'billing' })
  })
})

describe('resource', () => {
  const issuer = 'https://auth.example.com'
  const resource = 'https://mcp.example.com/mcp'
  const own = { ...introspection, authUrl: issuer }

  it.each<[string, Partial<TokenVerifierOptions>]>([
    ['introspection alone', { resource }],
    ['introspection and an issuer', { resource: new URL(resource), issuer }],
    [
      'an issuer with its own endpoint',
      { resource, issuers: [{ issuer, introspection: own }], introspection: undefined },
    ],
  ])('is the audience of introspected tokens, with %s', async (_name, options) => {
    const underTest = createVerifierUnderTest({}, options)
    const statusWith = (aud: unknown) => {
      underTest.respond = () => ({ active: true, aud })
      return underTest.statusOf(crypto.randomUUID())
    }
    expect(await statusWith([resource])).toBe(200)
    expect(await statusWith('https://billing.example.com')).toBe(401)
    expect(await statusWith(undefined)).toBe(200)
  })

  it('is enough for requireAudience', async () => {
    const underTest = createVerifierUnderTest({ requireAudience: true }, { resource })
    underTest.respond = () => ({ active: true })
    await expect(underTest.verifier.verify('Bearer a')).rejects.toMatchObject({
      reason: { claim: 'aud', received: null, expected: resource },
    })
  })
})

describe('introspection beside issuers', () => {
  const [a, b, c] = ['https://a.example.com', 'https://b.example.com', 'https://c.example.com']
  const entryOf = (issuer: string) => ({ issuer, audience: 'orders', clients: ['shop'] })
  const separate = { ...entryOf(b), introspection: { ...introspection, authUrl: b } }
  const reasonWith = async (issuers: TokenVerifierOptions['issuers'], response: object) => {
    const underTest = createVerifierUnderTest({ requireAudience: true }, { issuers })
    underTest.respond = () => ({ active: true, aud: 'orders', client_id: 'shop', ...response })
    return underTest.verifier.verify('Bearer opaque').then(
      () => 'accepted',
      ({ reason }: TokenVerificationError) => reason,
    )
  }

  it.each<[string, TokenVerifierOptions['issuers']]>([
    ['the only one', [entryOf(a)]],
    ['the only one without its own endpoint', [separate, entryOf(a)]],
  ])('applies the restrictions of %s if a response names no issuer', async (_name, issuers) => {
    expect(await reasonWith(issuers, {})).toBe('accepted')
    expect(await reasonWith(issuers, { client_id: 'other' })).toMatchObject({ claim: 'client_id' })
    expect(await reasonWith(issuers, { aud: 'billing' })).toMatchObject({ claim: 'aud', received: 'billing' })
    expect(await reasonWith(issuers, { aud: undefined })).toMatchObject({ claim: 'aud', received: null })
  })

  it('needs to know the issuer if there are several', async () => {
    const issuers = [entryOf(a), { ...entryOf(c), clients: ['till'] }]
    expect(await reasonWith(issuers, { iss: a })).toBe('accepted')
    expect(await reasonWith(issuers, { iss: c })).toMatchObject({ claim: 'client_id', expected: 'till' })
    expect(await reasonWith(issuers, {})).toMatchObject({ claim: 'iss', received: null })
  })

  it('does not vouch for an issuer that has its own endpoint', async () => {
    expect(await reasonWith([entryOf(a), separate], { iss: b })).toEqual({
      claim: 'iss',
      received: b,
      expected: 'an issuer without an introspection endpoint of its own',
    })
  })

  it('calls the function that finds issuers', async () => {
    const find = async (iss: string) => (iss === a ? entryOf(a) : undefined)
    expect(await reasonWith(find, { iss: a })).toBe('accepted')
    expect(await reasonWith(find, { iss: a, client_id: 'other' })).toMatchObject({ claim: 'client_id' })
    expect(await reasonWith(find, { iss: a, aud: undefined })).toMatchObject({ claim: 'aud' })
    expect(await reasonWith(find, { iss: c })).toMatchObject({ claim: 'iss', received: c })
    expect(await reasonWith(find, {})).toMatchObject({ claim: 'iss', received: null })
  })

  it('is rejected if each of them has its own endpoint', () => {
    expect(() => createTokenVerifier({ introspection, issuers: [separate] })).toThrow(
      'introspection serves none of the issuers, which all have their own. List its issuer.',
    )
  })
})

describe('an issuer with its own introspection endpoint', () => {
  const [signing, introspecting] = ['https://signing.example.com', 'https://introspecting.example.com']
  const setUp = async (issuers: Partial<IssuerOptions> = {}) => {
    const key = await createSigningKey()
    const requests: string[] = []
    const responses: Record<string, object> = {}
    const verifier = createTokenVerifier({
      issuers: [
        { issuer: signing, audience: 'orders', jwks: { keys: [key.publicJwk] } },
        {
          issuer: introspecting,
          audience: 'orders',
          introspection: {
            ...introspection,
            introspectionUrl: `${introspecting}/introspect`,
            authUrl: undefined,
          },
          ...issuers,
        },
      ],
      async fetch(url, init) {
        const token = new URLSearchParams(init?.body as URLSearchParams).get('token')!
        requests.push(String(url))
        return Response.json(responses[token] ?? { active: true, client_id: 'client' })
      },
    })
    const reasonFor = (token: string) =>
      verifier.verify(`Bearer ${token}`).then(
        () => 'accepted',
        ({ reason }: TokenVerificationError) => reason,
      )
    const sign = (iss: string) =>
      new SignJWT({ client_id: 'client', jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.publicJwk.kid! })
        .setIssuer(iss)
        .setAudience('orders')
        .setSubject('client')
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(key.privateKey)
    return { requests, responses, reasonFor, sign }
  }

  it('gets its JWTs and opaque tokens, and no JWT of another issuer', async () => {
    const { requests, responses, reasonFor, sign } = await setUp({ clients: ['client'] })
    expect(await reasonFor(await sign(signing))).toBe('accepted')
    expect(requests).toEqual([])
    expect(await reasonFor(await sign(introspecting))).toBe('accepted')
    expect(await reasonFor('opaque')).toBe('accepted')
    expect(requests).toEqual(Array(2).fill(`${introspecting}/introspect`))
    expect(await reasonFor(await sign('https://other.example.com'))).toMatchObject({
      claim: 'iss',
      expected: `${signing} or ${introspecting}`,
    })
    expect(requests).toHaveLength(2)
    responses['of-another'] = { active: true, iss: signing, client_id: 'client' }
    expect(await reasonFor('of-another')).toMatchObject({ claim: 'iss', expected: introspecting })
    responses['of-another-client'] = { active: true, client_id: 'other' }
    expect(await reasonFor('of-another-client')).toMatchObject({ claim: 'client_id' })
    responses['revoked'] = { active: false }
    expect(await reasonFor('revoked')).toMatchObject({ claim: 'active' })
  })

  it('is chosen by no opaque token if there are several', () => {
    const entry = (issuer: string) => ({
      issuer,
      audience: 'orders',
      introspection: { ...introspection, authUrl: issuer },
    })
    const verifier = createTokenVerifier({
      issuers: [entry(signing), entry(introspecting)],
      fetch: () => Promise.reject(new Error('not requested')),
    })
    return expect(verifier.verify('Bearer opaque')).rejects.toMatchObject({ reason: { claim: 'format' } })
  })

  it.each<[Partial<IssuerOptions>, string]>([
    [
      { jwksUrl: `${introspecting}/jwks` },
      `introspection and jwksUrl of "${introspecting}" are mutually exclusive.`,
    ],
    [{ introspection: { ...introspection, clientId: '' } }, 'introspection.clientId is missing.'],
    [
      { introspection: { ...introspection, cacheMs: -1 } },
      'introspection.cacheMs must be a number, 0 or more.',
    ],
    [
      { introspection: { ...introspection, requireAudience: true }, audience: undefined },
      'introspection.requireAudience requires audience.',
    ],
  ])('rejects options: %j', async (options, message) => {
    await expect(setUp(options)).rejects.toThrow(message)
  })
})

describe('introspection requests', () => {
  const requestWith = async (options: Partial<IntrospectionOptions>) => {
    const requests: { init: RequestInit | undefined; headers: Headers; form: Record<string, string> }[] = []
    const verifier = createTokenVerifier({
      introspection: { ...introspection, ...options },
      fetch: async (_url, init) => {
        const form = Object.fromEntries(new URLSearchParams(init?.body as URLSearchParams))
        requests.push({ init, headers: new Headers(init?.headers), form })
        return Response.json({ active: true })
      },
    })
    await verifier.verify('Bearer token')
    return requests[0]!
  }

  it('have form-encoded credentials in the header', async () => {
    const { headers, form } = await requestWith({ clientId: 'api: ä', clientSecret: () => 'a b+c%&"' })
    const [scheme, credentials] = headers.get('authorization')!.split(' ')
    expect([scheme, atob(credentials!)]).toEqual(['Basic', 'api%3A+%C3%A4:a+b%2Bc%25%26%22'])
    expect(form).toEqual({ token: 'token', token_type_hint: 'access_token' })
  })

  it('are neither cached nor redirected', async () => {
    const { init } = await requestWith({})
    expect(init).toMatchObject({ method: 'POST', cache: 'no-store', redirect: 'manual' })
  })

  it('have credentials in the body', async () => {
    const { headers, form } = await requestWith({ clientAuthentication: 'client_secret_post' })
    expect(headers.get('authorization')).toBeNull()
    expect(form).toMatchObject({ client_id: 'orders-api', client_secret: 'orders-secret' })
  })

  it('have an assertion', async () => {
    const clientAuthentication = clientAssertion(async ({ tokenEndpoint }) => `jwt for ${tokenEndpoint.href}`)
    const { form } = await requestWith({ clientSecret: undefined, clientAuthentication })
    expect(form).toMatchObject({
      client_id: 'orders-api',
      client_assertion: 'jwt for http://localhost/oauth/introspect',
    })
  })
})

describe('an active introspection response', () => {
  const [issuer, audience] = ['https://auth.example.com', 'orders']

  it.each<[object, number]>([
    [{}, 200],
    [{ iss: issuer, aud: audience }, 200],
    [{ aud: ['billing', audience] }, 200],
    [{ iss: `${issuer}/` }, 401],
    [{ iss: '' }, 401],
    [{ aud: 'billing' }, 401],
    [{ aud: [] }, 401],
    [{ aud: null }, 401],
  ])('is checked for the issuer and the audience, if it names them: %j', async (claims, status) => {
    const underTest = createVerifierUnderTest({}, { issuer, audience })
    underTest.respond = () => ({ active: true, ...claims })
    expect(await underTest.statusOf('token')).toBe(status)
  })

  it.each<[unknown]>([['key'], [[]], [{}], [null], [5], [{ kid: 'key' }], [{ jkt: 5 }], [{ jkt: null }]])(
    'with a cnf of an unknown shape is rejected: %j',
    async (cnf) => {
      const underTest = createVerifierUnderTest()
      underTest.respond = () => ({ active: true, cnf })
      await expect(underTest.verifier.verify('Bearer token')).rejects.toMatchObject({
        status: 401,
        message: 'The access token is bound in a way that this API does not support.',
      })
    },
  )

  it('with an expiry that no date can hold is rejected', async () => {
    const underTest = createVerifierUnderTest()
    underTest.respond = () => ({ active: true, exp: 1e300 })
    expect(await underTest.statusOf('token')).toBe(401)
  })

  it('is not used for a request that came later, with cacheMs 0', async () => {
    const underTest = createVerifierUnderTest({ cacheMs: 0 })
    const { asked, respond } = delayIntrospection(underTest)
    const first = underTest.statusOf('token')
    await asked
    underTest.respond = () => ({ active: true })
    const second = underTest.statusOf('token')
    respond()
    expect([await first, await second]).toEqual([401, 200])
  })

  it('needs neither issuer nor audience', async () => {
    const underTest = createVerifierUnderTest()
    underTest.respond = () => ({ active: true, iss: issuer, aud: audience })
    expect(await underTest.statusOf('token')).toBe(200)
  })

  it('is awaited for timeoutMs', async () => {
    const underTest = createVerifierUnderTest(
      { timeoutMs: 20 },
      {
        fetch: (_url, init) =>
          new Promise((_resolve, reject) => {
            init?.signal?.addEventListener('abort', () => reject(init.signal?.reason as Error))
          }),
      },
    )
    await expect(underTest.verifier.verify('Bearer token')).rejects.toMatchObject({
      status: 503,
      cause: {
        kind: 'unavailable',
        message:
          'Could not reach the introspection endpoint http://localhost/oauth/introspect (TimeoutError).',
      },
    })
  })

  it('is awaited for longer if the process was blocked in the meantime', async () => {
    const underTest = createVerifierUnderTest(
      { timeoutMs: 100 },
      {
        fetch: async () => {
          const response = new Promise<Response>((resolve) => {
            // On another turn of the event loop than the timer, as a response from a socket is.
            setTimeout(() => setImmediate(() => resolve(Response.json({ active: true }))), 50)
          })
          queueMicrotask(() => {
            const until = performance.now() + 300
            while (performance.now() < until);
          })
          return response
        },
      },
    )
    expect(await underTest.statusOf('token')).toBe(200)
  })

  it('that rejects our own credentials is named in the event', async () => {
    const underTest = createVerifierUnderTest()
    underTest.respond = () => new Response('', { status: 401 })
    expect(await underTest.statusOf('token')).toBe(503)
    const rejection = underTest.events.find(({ type }) => type === 'request_rejected')
    expect(rejection).toMatchObject({
      code: 'unavailable',
      error: {
        kind: 'credentials',
        message: expect.stringContaining('rejected the credentials of client "orders-api" (401)'),
      },
    })
    expectNoSecrets(rejection, ['orders-secret'])
  })

  it('is the response of the endpoint: anything else is reported', async () => {
    const underTest = createVerifierUnderTest()
    underTest.respond = () => new Response('<html>')
    await expect(underTest.verifier.verify('Bearer token')).rejects.toMatchObject({
      name: 'TokenVerificationError',
      status: 503,
      cause: {
        kind: 'malformed',
        message: 'The response of the introspection endpoint http://localhost/oauth/introspect is not JSON.',
      },
    })
  })
})

describe('the metadata of an issuer', () => {
  const issuer = 'https://auth.example.com'
  const jwt = jwtOf(issuer)

  it.each<[string, () => Response]>([
    ['responded with status 404', () => new Response('', { status: 404 })],
    ['is not JSON', () => new Response('<html>')],
    ['has no issuer', () => Response.json({ jwks_uri: `${issuer}/jwks` })],
    [`has the issuer "${issuer}/"`, () => Response.json({ issuer: `${issuer}/` })],
    ['has no jwks_uri', () => Response.json({ issuer })],
    [
      'failed (ECONNREFUSED)',
      () => {
        throw Object.assign(new Error('canary'), { code: 'ECONNREFUSED' })
      },
    ],
  ])('is reported if it %s', async (problem, respond) => {
    const verifier = createTokenVerifier({ issuer, audience: 'orders', fetch: async () => respond() })
    const [oauth, openid] = ['oauth-authorization-server', 'openid-configuration'].map(
      (name) => `${issuer}/.well-known/${name} ${problem}`,
    )
    const message = `Could not find metadata for the issuer "${issuer}": ${oauth}; ${openid}.`
    await expect(verifier.verify(`Bearer ${jwt}`)).rejects.toMatchObject({
      code: 'unavailable',
      cause: { kind: 'unavailable', message },
    })
  })

  it('is requested with a time limit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const signals: (AbortSignal | null | undefined)[] = []
    const verifier = createTokenVerifier({
      issuer,
      audience: 'orders',
      fetch: (_url, init) => {
        signals.push(init?.signal)
        return new Promise(() => {})
      },
    })
    const check = expect(verifier.verify(`Bearer ${jwt}`)).rejects.toMatchObject({ code: 'unavailable' })
    await vi.advanceTimersByTimeAsync(4_999)
    expect(signals.map((signal) => signal?.aborted)).toEqual([false])
    await vi.advanceTimersByTimeAsync(1)
    await check
    expect(signals[0]?.aborted).toBe(true)
  })
})

describe('a secret that never arrives', () => {
  it('ends the check in time, and does not keep later checks from running', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let isStuck = true
    const clientSecret = vi.fn(() => (isStuck ? new Promise<string>(() => {}) : 'orders-secret'))
    const underTest = createVerifierUnderTest({ clientSecret, maxConnections: 2 })
    const stuck = Array.from({ length: 6 }, (_, at) =>
      underTest.verifier.verify(`Bearer stuck-${at}`).catch((error: unknown) => error),
    )
    await vi.advanceTimersByTimeAsync(5_000)
    for (const error of await Promise.all(stuck)) {
      expect(error).toMatchObject({
        status: 503,
        cause: {
          kind: 'unavailable',
          message:
            'The credentials for the introspection endpoint http://localhost/oauth/introspect are not available (TimeoutError). Check introspection.clientSecret and introspection.clientAuthentication.',
        },
      })
    }
    isStuck = false
    const calls = clientSecret.mock.calls.length
    expect(await underTest.statusOf('good')).toBe(200)
    expect(clientSecret.mock.calls.length).toBe(calls + 1)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the function `issuers`', () => {
  it('has a deadline, after which the same token is looked up again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const key = await createSigningKey()
    const calls: string[] = []
    const verifier = createTokenVerifier({
      audience: 'orders',
      issuers(issuer) {
        calls.push(issuer)
        if (calls.length === 1) return new Promise(() => {})
        return Promise.resolve({ issuer, jwks: { keys: [key.publicJwk] } })
      },
    })
    const token = await new SignJWT({ client_id: 'client', jti: '1' })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: key.publicJwk.kid! })
      .setIssuer('https://tenant.example.com')
      .setAudience('orders')
      .setSubject('client')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(key.privateKey)
    const lost = expect(verifier.verify(`Bearer ${token}`)).rejects.toMatchObject({
      status: 503,
      cause: { kind: 'unavailable', message: 'The issuers function failed (TimeoutError).' },
    })
    await vi.waitUntil(() => calls.length === 1)
    await vi.advanceTimersByTimeAsync(5_000)
    await lost
    await expect(verifier.verify(`Bearer ${token}`)).resolves.toMatchObject({ clientId: 'client' })
    expect(calls).toHaveLength(2)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('the metadata of an issuer on the internet', () => {
  it.each(['http://127.0.0.1:8500/v1/agent/leave', 'https://169.254.169.254/latest'])(
    'does not lead to %s',
    async (jwksUri) => {
      const issuer = 'https://tenant.example.com'
      const hosts = new Set<string>()
      const verifier = createTokenVerifier({
        issuer,
        audience: 'orders',
        async fetch(input) {
          hosts.add(new URL(input instanceof Request ? input.url : input).host)
          return Response.json({ issuer, jwks_uri: jwksUri })
        },
      })
      await expect(verifier.verify(`Bearer ${jwtOf(issuer)}`)).rejects.toMatchObject({
        status: 503,
        cause: { message: `jwks_uri of the issuer "${issuer}" is an address of this machine.` },
      })
      expect([...hosts]).toEqual(['tenant.example.com'])
    },
  )
})

describe('the keys of an issuer', () => {
  const issuer = 'https://auth.example.com/tenant'

  /** An issuer whose responses a test changes. */
  const setUp = (
    respond: (path: string) => Response | Promise<Response>,
    options: Partial<TokenVerifierOptions> = {},
  ) => {
    const clock = createFakeClock()
    const requests: string[] = []
    const server = { respond }
    const verifier = createTokenVerifier({
      issuer,
      audience: 'orders',
      clock,
      fetch: async (url) => {
        const { pathname } = new URL(url instanceof Request ? url.url : url)
        requests.push(pathname)
        return server.respond(pathname)
      },
      ...options,
    })
    const statusOf = (token: string) =>
      verifier.verify(`Bearer ${token}`).then(
        () => 200,
        ({ status }: { status: number }) => status,
      )
    const sign = async ({ privateKey, publicJwk }: Awaited<ReturnType<typeof createSigningKey>>) => {
      const now = Math.floor(clock.now() / 1000)
      return new SignJWT({ client_id: 'client', jti: crypto.randomUUID() })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: publicJwk.kid! })
        .setIssuer(issuer)
        .setAudience('orders')
        .setSubject('client')
        .setIssuedAt(now)
        .setExpirationTime(now + 36_000)
        .sign(privateKey)
    }
    return { clock, requests, server, statusOf, sign }
  }
  const notFound = () => new Response('', { status: 404 })
  const junk = (count: number) => Array.from({ length: count }, (_, at) => `${jwtOf(issuer)}${at}A`)
  const metadataPaths = [
    '/.well-known/oauth-authorization-server/tenant',
    '/.well-known/openid-configuration/tenant',
    '/tenant/.well-known/openid-configuration',
  ]

  it.each(metadataPaths)('are found by metadata at %s', async (place) => {
    const key = await createSigningKey()
    const { statusOf, sign } = setUp((path) => {
      if (path === '/jwks') return Response.json({ keys: [key.publicJwk] })
      return path === place
        ? Response.json({ issuer, jwks_uri: 'https://auth.example.com/jwks' })
        : notFound()
    })
    expect(await statusOf(await sign(key))).toBe(200)
  })

  it('are requested once for 500 tokens, and not again for a while if that fails', async () => {
    const { requests, statusOf, clock } = setUp(notFound)
    expect(new Set(await Promise.all(junk(500).map(statusOf)))).toEqual(new Set([503]))
    expect(requests).toEqual(metadataPaths)
    clock.advance(4_999)
    expect(await statusOf(`${jwtOf(issuer)}late`)).toBe(503)
    expect(requests).toHaveLength(3)
    clock.advance(1)
    expect(await statusOf(`${jwtOf(issuer)}later`)).toBe(503)
    expect(requests).toHaveLength(6)
  })

  it('are requested once for 500 tokens with unknown keys, and once more after a second', async () => {
    const key = await createSigningKey()
    const { requests, statusOf, clock, sign } = setUp((path) =>
      path === '/jwks'
        ? Response.json({ keys: [key.publicJwk] })
        : Response.json({ issuer, jwks_uri: 'https://auth.example.com/jwks' }),
    )
    const unknown = await createSigningKey()
    const tokens = (count: number) => Promise.all(Array.from({ length: count }, () => sign(unknown)))
    expect(new Set(await Promise.all((await tokens(50)).map(statusOf)))).toEqual(new Set([401]))
    expect(requests).toEqual([metadataPaths[0], '/jwks'])
    clock.advance(1_000)
    expect(new Set(await Promise.all((await tokens(50)).map(statusOf)))).toEqual(new Set([401]))
    expect(requests).toEqual([metadataPaths[0], '/jwks', '/jwks'])
    expect(await statusOf(await sign(key))).toBe(200)
  })

  it.each([1_000, 600_000])(
    'are found at another URL, %i ms after they were loaded, once the issuer moved them',
    async (wait) => {
      const [old, next] = [await createSigningKey(), await createSigningKey()]
      let place = '/old'
      const { statusOf, clock, sign } = setUp((path) => {
        if (path === place) return Response.json({ keys: [(place === '/old' ? old : next).publicJwk] })
        if (path === metadataPaths[0])
          return Response.json({ issuer, jwks_uri: `https://auth.example.com${place}` })
        return notFound()
      })
      expect(await statusOf(await sign(old))).toBe(200)
      place = '/new'
      clock.advance(wait)
      // The old place is gone: the metadata is looked up again after the failure.
      if (wait < 600_000) expect(await statusOf(await sign(next))).toBe(503)
      if (wait < 600_000) clock.advance(5_000)
      expect(await statusOf(await sign(next))).toBe(200)
      expect(await statusOf(await sign(old))).toBe(401)
    },
  )

  it('that are known serve while others are loaded, and for an hour if they cannot be', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const [key, next] = [await createSigningKey(), await createSigningKey()]
    const metadata = () => Response.json({ issuer, jwks_uri: 'https://auth.example.com/jwks' })
    const { requests, server, statusOf, clock, sign } = setUp((path) =>
      path === '/jwks' ? Response.json({ keys: [key.publicJwk] }) : metadata(),
    )
    expect(await statusOf(await sign(key))).toBe(200)
    let respond = (_response: Response): void => {}
    server.respond = (path) => (path === '/jwks' ? new Promise((resolve) => (respond = resolve)) : metadata())
    const statusAfter = async (ms: number) => {
      const status = statusOf(await sign(key))
      await vi.advanceTimersByTimeAsync(ms)
      clock.advance(ms)
      return status
    }

    clock.advance(600_000)
    expect(await statusAfter(500)).toBe(200)
    // Later requests do not wait.
    expect(await statusAfter(0)).toBe(200)
    await vi.advanceTimersByTimeAsync(4_500)
    clock.advance(4_500)
    // The request for keys has failed, and the next one is due in 5 s.
    expect(await statusAfter(0)).toBe(200)
    expect(requests.filter((path) => path === '/jwks')).toHaveLength(2)
    clock.advance(5_000)
    expect(await statusAfter(500)).toBe(200)
    expect(requests.filter((path) => path === '/jwks')).toHaveLength(3)
    const published = () => Response.json({ keys: [next.publicJwk] })
    respond(published())
    server.respond = (path) => (path === '/jwks' ? published() : metadata())
    await vi.advanceTimersByTimeAsync(0)
    // A key that was removed is no longer accepted once the others are here.
    clock.advance(1_000)
    expect(await statusOf(await sign(key))).toBe(401)
    expect(await statusOf(await sign(next))).toBe(200)
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    [undefined, 3_600_000],
    [60_000, 60_000],
    [86_400_000, 86_400_000],
  ])('are used for maxKeyAgeMs (%s) while they cannot be loaded again', async (maxKeyAgeMs, usable) => {
    const key = await createSigningKey()
    const { server, statusOf, clock, sign } = setUp(
      (path) =>
        path === '/jwks'
          ? Response.json({ keys: [null, 'key', key.publicJwk] })
          : Response.json({ issuer, jwks_uri: 'https://auth.example.com/jwks' }),
      { maxKeyAgeMs },
    )
    expect(await statusOf(await sign(key))).toBe(200)
    server.respond = notFound
    clock.advance(usable - 1)
    const token = await sign(key)
    expect(await statusOf(token)).toBe(200)
    clock.advance(1)
    expect(await statusOf(await sign(key))).toBe(503)
  })

  it('are reported if they are no list', async () => {
    const { statusOf } = setUp((path) =>
      path === '/jwks'
        ? Response.json({ keys: {} })
        : Response.json({ issuer, jwks_uri: 'https://auth.example.com/jwks' }),
    )
    expect(await statusOf(`${jwtOf(issuer)}A`)).toBe(503)
  })

  it('are not read beyond 1 MiB', async () => {
    let sent = 0
    const endless = () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            sent += 65_536
            controller.enqueue(new Uint8Array(65_536).fill(32))
          },
        }),
      )
    const { statusOf } = setUp((path) =>
      path === '/jwks' ? endless() : Response.json({ issuer, jwks_uri: 'https://auth.example.com/jwks' }),
    )
    expect(await statusOf(`${jwtOf(issuer)}A`)).toBe(503)
    expect(sent).toBeLessThan(2 * 1024 * 1024)
  })

  it('are reported if they cannot be loaded', async () => {
    const issuer = 'https://auth.example.com'
    const verifier = createTokenVerifier({
      issuer,
      audience: 'orders',
      jwksUrl: `${issuer}/jwks`,
      fetch: () => Promise.reject(Object.assign(new Error('canary'), { code: 'ECONNREFUSED' })),
    })
    await expect(verifier.verify(`Bearer ${jwtOf(issuer)}`)).rejects.toMatchObject({
      code: 'unavailable',
      cause: {
        kind: 'unavailable',
        message: `Could not load the keys of the issuer "${issuer}" (ECONNREFUSED).`,
      },
    })
  })
})

describe('a verified token', () => {
  it('has typed values, cannot be changed, and does not contain the token', async () => {
    const underTest = createVerifierUnderTest()
    underTest.respond = () => ({
      active: true,
      client_id: 'client',
      sub: 'subject',
      iss: 'https://auth.example.com',
      aud: 'orders',
      scope: 'a  b',
      api_products: ['orders'],
      exp: 4_000_000_000,
      level: 'gold',
    })
    const token = await underTest.verifier.verify('Bearer good-secret-token')
    expect(token).toEqual({
      clientId: 'client',
      subject: 'subject',
      issuer: 'https://auth.example.com',
      audience: ['orders'],
      scopes: ['a', 'b'],
      products: ['orders'],
      expiresAt: new Date(4_000_000_000_000),
      claims: expect.objectContaining({ level: 'gold' }),
    })
    expect(Object.isFrozen(token) && Object.isFrozen(token.scopes) && Object.isFrozen(token.claims)).toBe(
      true,
    )
    expectNoSecrets(token, ['good-secret-token'])
  })

  it('is the same for the next request, whatever a handler does with it', async () => {
    const underTest = createVerifierUnderTest()
    const { verifier, clock, statusOf, introspected } = underTest
    underTest.respond = () => ({
      active: true,
      exp: Math.floor(clock.now() / 1000) + 5,
      realm_access: { roles: ['reader'] },
      teams: [['blue'], { name: 'red' }],
    })
    const change = ({ claims }: VerifiedToken, value: string): void => {
      const { realm_access: access, teams } = claims as {
        realm_access: { roles: string[] }
        teams: [string[], { name: string }]
      }
      expect(() => access.roles.push(value)).toThrow(TypeError)
      expect(() => (access.roles = [value])).toThrow(TypeError)
      expect(() => teams[0].push(value)).toThrow(TypeError)
      expect(() => (teams[1].name = value)).toThrow(TypeError)
    }
    const token = await verifier.verify('Bearer good', {
      where: (each) => each.expiresAt!.setTime(8e15) === 8e15,
    })
    change(token, 'admin')
    token.expiresAt!.setFullYear(3_000)
    await expect(
      verifier.verify('Bearer good', { claims: { realm_access: { roles: 'admin' } } }),
    ).rejects.toMatchObject({ status: 403 })
    clock.advance(5_000)
    expect(await statusOf('good')).toBe(401)
    expect(introspected).toEqual(['good'])
  })

  it('may have claims that are nested deeper than a call stack', async () => {
    const underTest = createVerifierUnderTest()
    const depth = 50_000
    underTest.respond = () => new Response(`{"active":true,"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`)
    expect(await underTest.statusOf('good')).toBe(200)
  })
})

describe('events', () => {
  it('report what was accepted, rejected and checked, without the token', async () => {
    const { verifier, events, statusOf } = createVerifierUnderTest()
    await statusOf('good-1')
    await statusOf('good-1')
    await statusOf('bad-1')
    await verifier.verify(undefined).catch(() => {})
    await verifier.verify('Bearer good-1', { products: ['orders'] }).catch(() => {})
    const durationMs = expect.any(Number)
    expect(events).toEqual([
      { type: 'token_checked', method: 'introspection', result: 'valid', durationMs },
      { type: 'request_accepted', clientId: 'client', cached: false, anonymous: false },
      { type: 'request_accepted', clientId: 'client', cached: true, anonymous: false },
      { type: 'token_checked', method: 'introspection', result: 'invalid', durationMs },
      {
        type: 'request_rejected',
        code: 'invalid_token',
        status: 401,
        clientId: undefined,
        reason: { claim: 'active', received: 'false', expected: 'the boolean true' },
      },
      { type: 'request_rejected', code: 'missing_token', status: 401, clientId: undefined },
      {
        type: 'request_rejected',
        code: 'insufficient_scope',
        status: 403,
        clientId: 'client',
        reason: { claim: 'api_products', received: '', expected: 'orders' },
      },
    ])
    expectNoSecrets(events, ['good-1', 'bad-1'])
  })

  it('stop for a listener that was removed', async () => {
    const { verifier, statusOf } = createVerifierUnderTest()
    const seen: string[] = []
    const stop = verifier.subscribe(({ type }) => void seen.push(type))
    await statusOf('good')
    stop()
    await statusOf('good')
    expect(seen).toEqual(['token_checked', 'request_accepted'])
  })

  it('do not fail a request if their listener throws', async () => {
    const { verifier, statusOf } = createVerifierUnderTest()
    verifier.subscribe(() => {
      throw new Error('of the listener')
    })
    // oxlint-disable-next-line typescript/no-misused-promises -- what callers do nevertheless
    verifier.subscribe(async () => {
      throw new Error('of the listener')
    })
    expect([await statusOf('good'), await statusOf('bad')]).toEqual([200, 401])
  })
})

describe('errors', () => {
  it.each<[string, () => unknown]>([
    [
      'cannot be reached',
      () => Promise.reject(new TypeError('fetch of orders-secret and good-token failed')),
    ],
    ['rejects our credentials', () => new Response('orders-secret good-token', { status: 401 })],
    ['repeats what it was sent', () => new Response('orders-secret good-token', { status: 200 })],
    ['fails', () => Response.json({ error: 'good-token' }, { status: 500 })],
  ])('of an endpoint that %s contain neither token nor secret', async (_name, respond) => {
    const underTest = createVerifierUnderTest()
    underTest.respond = respond
    const error: unknown = await underTest.verifier
      .verify('Bearer good-token')
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TokenVerificationError)
    expect(error).toMatchObject({ status: 503, code: 'unavailable', cause: { name: 'TokenError' } })
    expectNoSecrets([error, underTest.events], ['good-token', 'orders-secret'])
  })

  it('can have a custom body', async () => {
    const underTest = createVerifierUnderTest({}, { errors: ({ code, status }) => ({ code, status }) })
    await expect(underTest.verifier.verify(undefined)).rejects.toMatchObject({
      body: { code: 'missing_token', status: 401 },
      missingProducts: [],
      missingScopes: [],
    })
  })

  it.each<[string | string[] | undefined, object]>([
    [undefined, { faultstring: 'This API requires an access token. Send "Authorization: Bearer <token>".' }],
    [['Bearer a', 'Bearer b'], { faultstring: 'The request carries more than one access token.' }],
  ])('of the form of a request have the classic body of an invalid request: %j', async (header, fault) => {
    const underTest = createVerifierUnderTest({}, { errors: 'platform' })
    await expect(underTest.verifier.verify(header)).rejects.toMatchObject({
      body: { fault: { ...fault, detail: { errorcode: 'oauth.v2.InvalidRequest' } } },
    })
  })

  it('quote no character that would end the challenge', async () => {
    const underTest = createVerifierUnderTest({}, { realm: 'a"b\\c\nd' })
    const verification = underTest.verifier.verify('Bearer good', { products: ['x", error="none'] })
    await expect(verification).rejects.toMatchObject({
      challenge:
        'Bearer realm="a\'b\'c?d", error="insufficient_scope", error_description="The access token does not cover the product x\', error=\'none"',
    })
  })
})

describe('createTestVerifier', () => {
  it('accepts only its own tokens, with what they cover', async () => {
    const { verifier, createTestToken, revoke } = createTestVerifier()
    const token = createTestToken({ products: ['orders'], scopes: ['read'], clientId: 'acme' })
    await expect(
      verifier.verify(`Bearer ${token}`, { products: ['orders'], scopes: ['read'] }),
    ).resolves.toMatchObject({
      clientId: 'acme',
      products: ['orders'],
      scopes: ['read'],
    })
    await expect(verifier.verify('Bearer other')).rejects.toMatchObject({ status: 401 })
    const expired = createTestToken({ expiresInSeconds: -1 })
    await expect(verifier.verify(`Bearer ${expired}`)).rejects.toMatchObject({ status: 401 })
    revoke(token)
    await expect(verifier.verify(`Bearer ${token}`)).rejects.toMatchObject({ status: 401 })
  })
})
