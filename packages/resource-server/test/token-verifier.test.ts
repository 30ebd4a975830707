import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { clientAssertion } from '@tokenwell/core'
import {
  createTokenVerifier,
  TokenVerificationError,
  type DpopOptions,
  type IntrospectionOptions,
  type TokenRequirements,
  type TokenVerifierOptions,
  type VerifiedRequest,
} from '@tokenwell/resource-server'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { expectNoSecrets } from '@tokenwell/test-suite'
import { createDpopKey } from './servers/dpop-key.ts'
import { createVerifierUnderTest } from './verifier-under-test.ts'

const introspection = { authUrl: 'http://localhost', clientId: 'orders-api', clientSecret: 'orders-secret' }

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
      "introspection.clientAuthentication must be 'basic', 'post', 'none' or a ClientAuthentication object.",
      { introspection: { ...introspection, clientAuthentication: 'jwt' as 'post' } },
    ],
  ])('rejects options: %s', (message, options) => {
    const failure = expect.objectContaining({
      kind: 'configuration',
      message: expect.stringContaining(message),
    })
    expect(() => createTokenVerifier(options)).toThrow(failure)
  })

  it('allows plain HTTP with allowInsecure', () => {
    const options = {
      introspection: { ...introspection, authUrl: 'http://auth.internal' },
      allowInsecure: true,
    }
    expect(() => createTokenVerifier(options)).not.toThrow()
  })
})

describe('introspection requests', () => {
  const requestWith = async (options: Partial<IntrospectionOptions>) => {
    const requests: { headers: Headers; form: Record<string, string> }[] = []
    const verifier = createTokenVerifier({
      introspection: { ...introspection, ...options },
      fetch: async (_url, init) => {
        const form = Object.fromEntries(new URLSearchParams(init?.body as URLSearchParams))
        requests.push({ headers: new Headers(init?.headers), form })
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

  it('have credentials in the body', async () => {
    const { headers, form } = await requestWith({ clientAuthentication: 'post' })
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

describe('the metadata of an issuer', () => {
  const issuer = 'https://auth.example.com'
  const encode = (value: object) => btoa(JSON.stringify(value)).replace(/=+$/, '')
  const jwt = `${encode({ alg: 'ES256', typ: 'at+jwt' })}.${encode({ iss: issuer })}.AAAA`

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
      cause: { message },
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
      { type: 'request_accepted', clientId: 'client', cached: false },
      { type: 'request_accepted', clientId: 'client', cached: true },
      { type: 'token_checked', method: 'introspection', result: 'invalid', durationMs },
      { type: 'request_rejected', code: 'invalid_token', status: 401, clientId: undefined },
      { type: 'request_rejected', code: 'missing_token', status: 401, clientId: undefined },
      { type: 'request_rejected', code: 'insufficient_scope', status: 403, clientId: 'client' },
    ])
    expectNoSecrets(events, ['good-1', 'bad-1'])
  })

  it('stop for a listener that was removed', async () => {
    const { verifier, statusOf } = createVerifierUnderTest()
    const seen: string[] = []
    const stop = verifier.on(({ type }) => void seen.push(type))
    await statusOf('good')
    stop()
    await statusOf('good')
    expect(seen).toEqual(['token_checked', 'request_accepted'])
  })

  it('do not fail a request if their listener throws', async () => {
    const { verifier, statusOf } = createVerifierUnderTest()
    verifier.on(() => {
      throw new Error('of the listener')
    })
    // oxlint-disable-next-line typescript/no-misused-promises -- what callers do nevertheless
    verifier.on(async () => {
      throw new Error('of the listener')
    })
    expect([await statusOf('good'), await statusOf('bad')]).toEqual([200, 401])
  })
})

describe('DPoP proofs', () => {
  const setUp = async (dpop: DpopOptions) => {
    const { thumbprint, prove } = await createDpopKey()
    const { verifier, createTestToken } = createTestVerifier({ dpop })
    const token = createTestToken({ claims: { cnf: { jkt: thumbprint } } })
    const url = 'https://orders.example.com/orders'
    const createRequest = async (jti?: string): Promise<VerifiedRequest> => ({
      method: 'GET',
      url,
      dpop: await prove({ method: 'GET', url, token }, jti === undefined ? {} : { jti }),
    })
    const verify = (request: VerifiedRequest, requirements: TokenRequirements = {}) =>
      verifier.verify(`DPoP ${token}`, { ...requirements, request })
    return { verify, createRequest }
  }
  const used = { code: 'invalid_dpop_proof', message: 'The DPoP proof has already been used.' }

  it('are accepted again for the same request, even at once, but not for another one', async () => {
    const ids: string[] = []
    const { verify, createRequest } = await setUp({
      rememberProof: async (id) => !ids.includes(id) && ids.push(id) > 0,
    })
    const request = await createRequest()
    await Promise.all([verify(request), verify(request)])
    await verify(request)
    await expect(verify(request, { scopes: ['orders:read'] })).rejects.toMatchObject({ status: 403 })
    expect(ids).toHaveLength(1)
    const replayed = { ...request }
    await expect(verify(replayed)).rejects.toMatchObject(used)
    await expect(verify(replayed)).rejects.toMatchObject(used)
    // Several objects may describe one incoming request.
    const incoming = {}
    const next = await createRequest()
    await verify({ ...next, incoming })
    await verify({ ...next, incoming })
    await expect(verify({ ...next, incoming: {} })).rejects.toMatchObject(used)
  })

  it('are checked once each for an object that describes a second request', async () => {
    const { verify, createRequest } = await setUp({})
    const [incoming, first, second] = [{}, await createRequest(), await createRequest()]
    await verify({ ...first, incoming })
    await verify({ ...second, incoming })
    await expect(verify({ ...first, incoming })).rejects.toMatchObject(used)
  })

  it.each<[string, DpopOptions, string]>([
    [
      'rememberProof throws',
      {
        rememberProof() {
          throw Object.assign(new Error('redis://user:canary@localhost'), { code: 'ECONNREFUSED' })
        },
      },
      'dpop.rememberProof failed (ECONNREFUSED).',
    ],
    [
      'rememberProof rejects',
      { rememberProof: () => Promise.reject(new TypeError('redis://user:canary@localhost')) },
      'dpop.rememberProof failed (TypeError).',
    ],
    ['too many are remembered', { maxProofs: 0 }, 'dpop.maxProofs is reached: 0 proofs are remembered.'],
  ])('that cannot be checked get a 503 if %s', async (_name, options, message) => {
    const { verify, createRequest } = await setUp(options)
    const error: unknown = await verify(await createRequest()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(TokenVerificationError)
    expect(error).toMatchObject({
      status: 503,
      code: 'unavailable',
      headers: { 'retry-after': '1' },
      cause: { name: 'TokenError', kind: 'unavailable', message },
    })
    expectNoSecrets(error, ['canary'])
  })

  it('that are not remembered within 5 s get a 503', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const calls = new EventTarget()
    const called = new Promise((resolve) => calls.addEventListener('call', resolve))
    const { verify, createRequest } = await setUp({
      rememberProof() {
        calls.dispatchEvent(new Event('call'))
        return new Promise(() => {})
      },
    })
    const rejected = expect(verify(await createRequest())).rejects.toMatchObject({
      status: 503,
      cause: { kind: 'unavailable', message: 'dpop.rememberProof failed (TimeoutError).' },
    })
    await called
    await vi.advanceTimersByTimeAsync(4_999)
    expect(vi.getTimerCount()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    await rejected
    expect(vi.getTimerCount()).toBe(0)
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
