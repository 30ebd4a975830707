import { describe, expect, it, onTestFinished } from 'vitest'
import {
  createTokenVerifier,
  type RequiredClaims,
  type TokenRequirements,
  type VerifiedToken,
} from '@tokenwell/resource-server'
import { requireToken as connectMiddleware } from '@tokenwell/resource-server/express'
import { requireToken } from '@tokenwell/resource-server/fetch'
import { Require } from '@tokenwell/resource-server/nestjs'
import { createTestVerifier } from '@tokenwell/resource-server/testing'
import { createVerifierUnderTest } from './verifier-under-test.ts'

const { verifier, createTestToken } = createTestVerifier()

/** Whether a token with these claims meets the requirements; the reason otherwise. */
async function check(
  claims: Record<string, unknown>,
  requirements: TokenRequirements & { readonly and?: readonly TokenRequirements[] },
) {
  return verifier.verify(`Bearer ${createTestToken({ claims })}`, requirements).then(
    () => 'met',
    ({ status, reason }: { status: number; reason: object }) => [status, reason],
  )
}
const isMet = async (claims: Record<string, unknown>, required: RequiredClaims) =>
  (await check(claims, { claims: required })) === 'met'

describe('a required claim', () => {
  it.each<[RequiredClaims, Record<string, unknown>]>([
    [{ idtyp: 'app' }, { idtyp: 'app' }],
    [{ idtyp: ['app'] }, { idtyp: 'app' }],
    [{ roles: 'Orders.Read' }, { roles: ['Orders.Write', 'Orders.Read'] }],
    [{ roles: ['Orders.Read', 'Orders.Write'] }, { roles: ['Orders.Write', 'Orders.Read'] }],
    [{ email: { anyOf: ['a@x.example', 'b@x.example'] } }, { email: 'b@x.example' }],
    [{ roles: { anyOf: ['admin', 'reader'] } }, { roles: ['reader'] }],
    [{ email_verified: true }, { email_verified: true }],
    [{ level: 3 }, { level: 3 }],
    [{ scope: 'orders:read' }, { scope: 'orders:write orders:read' }],
    [{ scp: ['a', 'b'] }, { scp: 'b  a' }],
    [{ a: { 'b.c': { d: ['x'] } } }, { a: { 'b.c': { d: 'x' } } }],
    [{ a: { anyOf: ['x'], b: 'y' } }, { a: { anyOf: 'x', b: 'y' } }],
  ])('%j is met by %j', async (required, claims) => {
    expect(await isMet(claims, required)).toBe(true)
  })

  it.each<[RequiredClaims, Record<string, unknown>]>([
    [{ idtyp: 'app' }, {}],
    [{ idtyp: 'app' }, { idtyp: 'application' }],
    [{ idtyp: 'app' }, { idtyp: 'user app' }],
    [{ idtyp: 'app' }, { idtyp: { app: true } }],
    [{ roles: ['Orders.Read', 'Orders.Write'] }, { roles: ['Orders.Read'] }],
    [{ roles: ['Orders.Read', 'Orders.Write'] }, { roles: 'Orders.Read' }],
    [{ roles: 'Orders.Read' }, { roles: 'Orders.Read Orders.Write' }],
    [{ roles: 'Orders.Read' }, { roles: [['Orders.Read']] }],
    [{ level: 3 }, { level: '3' }],
    [{ email_verified: true }, { email_verified: 'true' }],
    [{ email: { anyOf: ['a@x.example'] } }, { email: 'a@x.example.evil' }],
    [{ a: { b: 'x' } }, { 'a.b': 'x' }],
    [{ 'a.b': 'x' }, { a: { b: 'x' } }],
    [{ a: { b: 'x' } }, { a: [{ b: 'x' }] }],
    [{ a: { b: 'x' } }, { a: 'x' }],
    [{ a: { anyOf: ['x'], b: 'y' } }, { a: { anyOf: 'x' } }],
    [{ scope: 'orders' }, { scope: 'orders:read' }],
    // What every object inherits.
    [{ constructor: { name: 'Object' } }, {}],
    [{ a: { constructor: { name: 'Object' } } }, { a: {} }],
  ])('%j is not met by %j', async (required, claims) => {
    expect(await isMet(claims, required)).toBe(false)
  })

  it.each<[unknown]>([
    [{}],
    [{ a: undefined }],
    [{ a: null }],
    [{ a: '' }],
    [{ a: [] }],
    [{ a: {} }],
    [{ a: [undefined] }],
    [{ a: { anyOf: [] } }],
    [{ a: { b: undefined } }],
    [{ a: () => true }],
  ])(
    'that names no value is met by no token, and is a configuration error where it can be found: %j',
    async (required) => {
      const claims = required as RequiredClaims
      for (const token of [{}, { a: null }, { a: '' }, { a: [] }, { a: {} }, { a: [''] }]) {
        expect(await isMet(token, claims)).toBe(false)
      }
      const failure = expect.objectContaining({
        kind: 'configuration',
        message: expect.stringContaining('claims'),
      })
      const introspection = { authUrl: 'http://localhost', clientId: 'api', clientSecret: 'secret' }
      expect(() => createTokenVerifier({ introspection, claims })).toThrow(failure)
      expect(() => connectMiddleware(verifier, { claims })).toThrow(failure)
      expect(() => requireToken(verifier, () => new Response(), { claims })).toThrow(failure)
      expect(() => Require({ claims })).toThrow(failure)
    },
  )
})

it('a claim that only the prototype of objects has is missing', async () => {
  onTestFinished(() => void Reflect.deleteProperty(Object.prototype, 'polluted'))
  // oxlint-disable-next-line eslint/no-extend-native -- what an attacker may have managed
  Object.defineProperty(Object.prototype, 'polluted', { value: 'yes', configurable: true })
  expect(await isMet({}, { polluted: 'yes' })).toBe(false)
  expect(await isMet({ a: {} }, { a: { polluted: 'yes' } })).toBe(false)
})

describe('requirements', () => {
  it.each<[TokenRequirements, string]>([
    [{ anyScope: [] }, 'anyScope must contain at least one scope.'],
    [{ scopes: [] }, 'scopes must contain at least one name.'],
    [{ products: [] }, 'products must contain at least one name.'],
    [
      { scope: ['orders'] } as never,
      'scope is not a requirement. A route can require products or scopes or anyScope or claims or where.',
    ],
    [{ scopes: 'orders' as never }, 'scopes must be a list of names.'],
    [{ scopes: [undefined as never] }, 'scopes must be a list of names.'],
    [{ products: [''] }, 'products must be a list of names.'],
    [{ where: true as never }, 'where must be a function.'],
  ])('%j are a configuration error', (requirements, message) => {
    expect(() => connectMiddleware(verifier, requirements)).toThrow(message)
    expect(() => requireToken(verifier, () => new Response(), requirements)).toThrow(message)
    expect(() => Require(requirements)).toThrow(message)
  })

  it('of several places all apply', async () => {
    const token = { scope: 'a b', roles: ['r'] }
    const and = [{ anyScope: ['b', 'c'] }, { claims: { roles: 'r' } }]
    expect(await check(token, { scopes: ['a'], and })).toBe('met')
    expect(await check(token, { scopes: ['x'], and })).toEqual([
      403,
      { claim: 'scope', received: 'a, b', expected: 'x' },
    ])
    expect(await check({ ...token, scope: 'a' }, { scopes: ['a'], and })).toEqual([
      403,
      { claim: 'scope', received: 'a', expected: 'b or c' },
    ])
    expect(await check({ ...token, roles: [] }, { scopes: ['a'], and })).toEqual([
      403,
      { claim: 'roles', received: '', expected: 'r' },
    ])
    expect(await check(token, { scopes: ['a'], and: [...and, { where: () => false }] })).toEqual([
      403,
      { claim: 'where', received: 'false', expected: 'true' },
    ])
  })

  it.each<[string, (token: VerifiedToken) => unknown]>([
    ['a promise', async () => true],
    ['a text', () => 'yes'],
    ['nothing', () => undefined],
  ])('with a function that returns %s are not met', async (_name, where) => {
    expect(await check({}, { where: where as () => boolean })).toEqual([403, expect.anything()])
  })

  it('with a function that throws fail, and do not accept the token', async () => {
    const where = () => {
      throw new RangeError('of the application')
    }
    await expect(verifier.verify(`Bearer ${createTestToken()}`, { where })).rejects.toThrow(RangeError)
  })

  it('with a function are not asked about a token that lacks something else', async () => {
    const where = () => {
      throw new RangeError('of the application')
    }
    expect(await check({}, { scopes: ['a'], where })).toEqual([403, expect.anything()])
  })

  it('state names in a response, and values of claims only in the reason', async () => {
    const claims = { email: { anyOf: ['secret@x.example'] } }
    await expect(verifier.verify(`Bearer ${createTestToken()}`, { claims })).rejects.toMatchObject({
      body: { error_description: 'The access token does not cover the required value of email.' },
      reason: { claim: 'email', received: null, expected: 'secret@x.example' },
    })
  })

  it.each<[TokenRequirements, string]>([
    [{ scopes: ['a', 'b'] }, 'a b'],
    [{ anyScope: ['read', 'admin'] }, 'read'],
    [{ scopes: ['admin'], anyScope: ['read', 'admin'] }, 'admin'],
    [{ scopes: ['a'], anyScope: ['read', 'admin'] }, 'a read'],
  ])('%j ask for the least scopes that are enough', async (requirements, scope) => {
    const rejected = { challenge: expect.stringContaining(`, scope="${scope}"`) }
    await expect(verifier.verify(`Bearer ${createTestToken()}`, requirements)).rejects.toMatchObject(rejected)
  })
})

describe('an optional token', () => {
  it.each<[TokenRequirements]>([
    [{ scopes: ['a'] }],
    [{ products: ['a'] }],
    [{ anyScope: ['a'] }],
    [{ claims: { a: 'b' } }],
    [{ where: () => true }],
  ])('is required where something else is: %o', async (requirements) => {
    for (const options of [requirements, { and: [requirements] }]) {
      await expect(verifier.verify(undefined, { optional: true, ...options })).rejects.toMatchObject({
        status: 401,
        code: 'missing_token',
      })
    }
  })

  it('is not missing from a request with several headers', async () => {
    for (const headers of [
      ['Basic a', 'Basic b'],
      ['', ''],
    ]) {
      await expect(verifier.verify(headers, { optional: true })).rejects.toMatchObject({ status: 400 })
    }
  })

  it('is reported if it is missing', async () => {
    const underTest = createVerifierUnderTest()
    expect(await underTest.verifier.verify(undefined, { optional: true })).toBeUndefined()
    expect(underTest.events).toEqual([
      { type: 'request_accepted', clientId: undefined, cached: false, anonymous: true },
    ])
  })

  it('is rejected if it cannot be checked', async () => {
    const underTest = createVerifierUnderTest()
    underTest.respond = () => new Response('', { status: 500 })
    await expect(underTest.verifier.verify('Bearer good', { optional: true })).rejects.toMatchObject({
      status: 503,
    })
  })
})

describe('what every token must have', () => {
  const options = {
    clients: ['shop', 'billing'],
    anyScope: ['orders:read'],
    where: ({ subject }: VerifiedToken) => subject !== 'eve',
  }
  it.each<[Record<string, unknown>, object | 'accepted']>([
    [{ client_id: 'shop', scope: 'orders:read' }, 'accepted'],
    [
      { client_id: 'other', scope: 'orders:read' },
      { claim: 'client_id', received: 'other', expected: 'shop or billing' },
    ],
    [{ scope: 'orders:read' }, { claim: 'client_id', received: null, expected: 'shop or billing' }],
    [
      { client_id: 'shop', scope: 'orders' },
      { claim: 'scope', received: 'orders', expected: 'orders:read' },
    ],
    [
      { client_id: 'shop', scope: 'orders:read', sub: 'eve' },
      { claim: 'where', received: 'false', expected: 'true' },
    ],
  ])('is checked for opaque tokens, too: %j', async (claims, reason) => {
    const underTest = createVerifierUnderTest({}, options)
    underTest.respond = () => ({ active: true, ...claims })
    const result = underTest.verifier.verify('Bearer token')
    if (reason === 'accepted') await expect(result).resolves.toMatchObject({ clientId: 'shop' })
    else await expect(result).rejects.toMatchObject({ status: 401, code: 'invalid_token', reason })
  })

  it('is no audience, with audience: false', async () => {
    const underTest = createVerifierUnderTest({}, { audience: false, clients: ['shop'], scopes: ['a'] })
    const active = { active: true, client_id: 'shop', scope: 'a' }
    underTest.respond = (token) => ({ ...active, ...(token === 'for-others' && { aud: 'orders' }) })
    expect(await underTest.statusOf('good')).toBe(200)
    await expect(underTest.verifier.verify('Bearer for-others')).rejects.toMatchObject({
      status: 401,
      reason: { claim: 'aud', received: 'orders', expected: 'no aud' },
    })
  })

  it.each<[object, string]>([
    [{ clients: [] }, 'clients must contain at least one client ID.'],
    [{ clients: [undefined] }, 'clients must be a list of names.'],
    [{ audience: false }, 'audience: false requires clients and scopes'],
    [{ scope: ['a'] }, 'scope is not an option. Set scopes.'],
    [{ client: ['a'] }, 'client is not an option. Set clients.'],
    [{ anyScopes: ['a'] }, 'anyScopes is not an option. Set anyScope.'],
    [{ audience: false, clients: ['a'] }, 'audience: false requires clients and scopes'],
    [{ audience: false, clients: ['a'], scopes: [] }, 'audience: false requires clients and scopes'],
    [{ audience: false, scopes: ['a'] }, 'audience: false requires clients and scopes'],
  ])('is checked when the verifier is created: %j', (restrictions, message) => {
    expect(() => createVerifierUnderTest({}, restrictions)).toThrow(message)
  })
})

it('an option that does not exist is not taken for a reason', async () => {
  const underTest = createVerifierUnderTest({}, { roles: 'a' } as object)
  expect(await underTest.statusOf('good')).toBe(200)
  expect(JSON.stringify(underTest.events)).not.toContain('orders-secret')
})

it.each<[Record<string, unknown>, string | undefined]>([
  [{ client_id: 'a', azp: 'b', appid: 'c', cid: 'd' }, 'a'],
  [{ azp: 'b', appid: 'c', cid: 'd' }, 'b'],
  [{ appid: 'c', cid: 'd' }, 'c'],
  [{ cid: 'd' }, 'd'],
  [{ client_id: '', azp: 5, appid: ['x'], cid: 'd' }, 'd'],
  [{ sub: 'e' }, undefined],
])('the client of %j is %s', async (claims, clientId) => {
  const token = createTestToken({ claims: { client_id: undefined, ...claims } })
  expect((await verifier.verify(`Bearer ${token}`)).clientId).toBe(clientId)
})
