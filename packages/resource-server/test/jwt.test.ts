import { generateKeyPairSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  createTokenVerifier,
  type TokenVerificationError,
  type TokenVerifierOptions,
  type VerificationEvent,
} from '@tokenwell/resource-server'
import { createFakeClock } from '@tokenwell/core/testing'
import { createSigningKey } from './servers/jwt-issuer.ts'

const issuer = 'https://auth.example.com'
const audience = 'orders'
type SigningKey = Awaited<ReturnType<typeof createSigningKey>>

/** A verifier that knows these keys. */
function verifierFor(keys: readonly SigningKey[], options: Partial<TokenVerifierOptions> = {}) {
  const clock = createFakeClock()
  const checks: VerificationEvent[] = []
  const verifier = createTokenVerifier({
    issuer,
    audience,
    jwks: { keys: keys.map(({ publicJwk }) => publicJwk) },
    clock,
    onEvent: (event) => event.type === 'token_checked' && checks.push(event),
    ...options,
  })
  const statusOf = (token: string) =>
    verifier.verify(`Bearer ${token}`).then(
      () => 200,
      ({ status }: { status: number }) => status,
    )
  const sign = ({ privateKey }: SigningKey, header: object = {}, claims: object = {}) => {
    const iat = Math.floor(clock.now() / 1000)
    const jti = crypto.randomUUID()
    const all = { iss: issuer, aud: audience, sub: 'client', client_id: 'client', jti, iat, exp: iat + 3_600 }
    return new SignJWT({ ...all, ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header })
      .sign(privateKey)
  }
  /** Why a token is rejected; null for one that is accepted. */
  const reasonFor = async (token: string): Promise<object | null | undefined> =>
    verifier.verify(`Bearer ${token}`).then(
      () => null,
      (error: TokenVerificationError) => error.reason,
    )
  return { verifier, clock, checks, statusOf, sign, reasonFor }
}

describe('a JWT', () => {
  it('without a key ID is accepted with any of the keys', async () => {
    const keys = [await createSigningKey('ES256'), await createSigningKey('ES256')]
    const { statusOf, sign } = verifierFor(keys)
    expect(await Promise.all(keys.map(async (key) => statusOf(await sign(key))))).toEqual([200, 200])
    expect(await statusOf(await sign(await createSigningKey('ES256')))).toBe(401)
  })

  it('is recognised by a header in base64url', async () => {
    const key = await createSigningKey('ES256', '>>>???>>>???>>')
    const { statusOf, sign } = verifierFor([key])
    const token = await sign(key, { kid: key.publicJwk.kid! })
    const [header] = token.split('.')
    expect(header).toMatch(/-/)
    expect(header).toMatch(/_/)
    expect(await statusOf(token)).toBe(200)
  })

  it('is checked again after 10 s, and after 1 s if it was rejected: its key may become known', async () => {
    const key = await createSigningKey('ES256')
    const { statusOf, sign, clock, checks } = verifierFor([key])
    const [valid, invalid] = [await sign(key), await sign(await createSigningKey('ES256'))]
    const checksAfter = async (ms: number) => {
      clock.advance(ms)
      expect([await statusOf(valid), await statusOf(invalid)]).toEqual([200, 401])
      return checks.length
    }
    expect(await checksAfter(0)).toBe(2)
    expect(await checksAfter(999)).toBe(2)
    expect(await checksAfter(1)).toBe(3)
    expect(await checksAfter(8_999)).toBe(4)
    expect(await checksAfter(1)).toBe(5)
  })
})

describe('the type of a JWT', () => {
  const clients = ['client']
  it.each<
    [
      TokenVerifierOptions['typ'],
      readonly (string | undefined)[],
      readonly (string | number | null | undefined)[],
    ]
  >([
    [
      undefined,
      ['at+jwt', 'application/at+jwt', 'AT+JWT'],
      [undefined, 'JWT', '', 'at', 'at+jwt ', 'xat+jwt'],
    ],
    ['JWT', ['JWT', 'jwt', 'application/jwt'], [undefined, 'at+jwt', 'dpop+jwt', 'text/jwt', '']],
    [
      ['JWT', 'okta-at+jwt'],
      ['JWT', 'okta-at+jwt', 'application/okta-at+jwt'],
      [undefined, 'at+jwt'],
    ],
    [
      false,
      [undefined, 'JWT', 'at+jwt'],
      [
        'dpop+jwt',
        'logout+jwt',
        'secevent+jwt',
        'token-introspection+jwt',
        'entity-statement+jwt',
        'x',
        '',
        5,
        null,
      ],
    ],
  ])('is accepted as the option says: %j', async (typ, accepted, rejected) => {
    const key = await createSigningKey()
    const { sign, reasonFor } = verifierFor([key], { typ, clients })
    for (const each of accepted)
      expect([each, await reasonFor(await sign(key, { typ: each }))]).toEqual([each, null])
    for (const each of rejected) {
      const received = each === undefined ? null : String(each)
      expect(await reasonFor(await sign(key, { typ: each }))).toMatchObject({ claim: 'typ', received })
    }
  })

  it.each([
    [{ nonce: 'n' }, 'nonce', 'n'],
    [{ nonce: null }, 'nonce', 'null'],
    [{ at_hash: 'h' }, 'at_hash', 'h'],
    [{ c_hash: 'h' }, 'c_hash', 'h'],
    [{ s_hash: 'h' }, 's_hash', 'h'],
    [{ token_use: 'id' }, 'token_use', 'id'],
    [{ token_use: 'refresh' }, 'token_use', 'refresh'],
    [{ typ: 'ID' }, 'typ', 'ID'],
    [{ typ: 'Refresh' }, 'typ', 'Refresh'],
    [{ typ: 'Offline' }, 'typ', 'Offline'],
    [{ typ: 'Logout' }, 'typ', 'Logout'],
    [
      { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } },
      'events',
      '{"http://schemas.openid.net/event/backchannel-logout":{}}',
    ],
    [{ token_introspection: { active: true } }, 'token_introspection', '{"active":true}'],
  ])(
    'that states no kind is rejected with the claims of another kind: %j',
    async (claims, claim, received) => {
      const key = await createSigningKey()
      for (const typ of ['JWT', false, ['at+jwt', 'JWT']] as const) {
        const { sign, reasonFor } = verifierFor([key], { typ, clients })
        const token = await sign(key, { typ: 'JWT' }, claims)
        expect(await reasonFor(token)).toMatchObject({ claim, received })
        expect(await reasonFor(await sign(key, { typ: 'JWT' }, { token_use: 'access', typ: 'Bearer' }))).toBe(
          null,
        )
      }
    },
  )

  it('is the reason that is given, though other claims are missing as well', async () => {
    const key = await createSigningKey()
    const { sign, reasonFor } = verifierFor([key])
    const token = await sign(key, { typ: 'JWT' }, { jti: undefined, client_id: undefined, aud: 'other' })
    expect(await reasonFor(token)).toEqual({ claim: 'typ', received: 'JWT', expected: 'at+jwt' })
  })

  it.each<[Partial<TokenVerifierOptions>, string]>([
    [{ typ: 'JWT' }, "typ: 'JWT' requires clients, scopes or claims"],
    [{ typ: 'application/jwt' }, "typ: 'JWT' requires clients, scopes or claims"],
    [{ typ: ['at+jwt', 'JWT'] }, "typ: 'JWT' requires clients, scopes or claims"],
    [{ typ: false }, 'typ: false requires clients, scopes or claims'],
    [{ typ: false, scopes: [], where: () => true }, 'typ: false requires clients, scopes or claims'],
    [{ typ: [] }, 'typ must be a type'],
    [{ typ: '' }, 'typ must be a type'],
    [{ typ: true as never }, 'typ must be a type'],
    [{ typ: [undefined] as never }, 'typ must be a type'],
    [{ typ: [false] as never }, 'typ must be a type'],
  ])('needs more than itself where ID tokens have it, too: %j', (options, message) => {
    expect(() => verifierFor([], options)).toThrow(message)
    expect(() => createTokenVerifier({ issuers: [{ issuer, audience, ...options }] })).toThrow(message)
  })

  it.each<[Partial<TokenVerifierOptions>]>([
    [{ clients: ['a'] }],
    [{ scopes: ['a'] }],
    [{ anyScope: ['a'] }],
    [{ products: ['a'] }],
    [{ claims: { a: 'b' } }],
  ])('of all kinds of tokens is accepted with %j', (options) => {
    expect(() => verifierFor([], { typ: false, ...options })).not.toThrow()
    // An entry has what the verifier has, unless it says something else.
    expect(() =>
      createTokenVerifier({ issuers: [{ issuer, audience, typ: 'JWT' }], ...options }),
    ).not.toThrow()
  })
})

describe('audience: false', () => {
  const entry = { audience: false, clients: ['client'], scopes: ['orders/read'] } as const
  it.each<[object, object | null]>([
    [{}, null],
    [{ aud: 'orders' }, { claim: 'aud', received: 'orders', expected: 'no aud' }],
    [{ aud: [] }, { claim: 'aud', received: '', expected: 'no aud' }],
    [{ aud: null }, { claim: 'aud', received: 'null', expected: 'no aud' }],
    [{ client_id: 'other' }, { claim: 'client_id', received: 'other', expected: 'client' }],
    [{ client_id: undefined }, { claim: 'client_id', received: null, expected: 'client' }],
    [{ scope: 'payments/read' }, { claim: 'scope', received: 'payments/read', expected: 'orders/read' }],
    [{ scope: undefined }, { claim: 'scope', received: '', expected: 'orders/read' }],
  ])('accepts only tokens without aud, of its clients and with its scopes: %j', async (claims, reason) => {
    const key = await createSigningKey()
    const { sign, reasonFor } = verifierFor([key], { typ: false, ...entry })
    const token = await sign(key, { typ: 'JWT' }, { aud: undefined, scope: 'orders/read', ...claims })
    expect(await reasonFor(token)).toEqual(reason)
  })
})

describe('the reason of a rejection', () => {
  const shared = { claim: 'aud', expected: 'orders or billing' }
  it.each<[string, object, object, object]>([
    ['another audience', {}, { aud: 'https://x.example' }, { ...shared, received: 'https://x.example' }],
    ['several audiences', {}, { aud: ['a', 'b'] }, { ...shared, received: 'a, b' }],
    ['no audience', {}, { aud: undefined }, { ...shared, received: null }],
    [
      'an audience that is an object',
      {},
      { aud: { orders: true } },
      { ...shared, received: '{"orders":true}' },
    ],
    [
      'an issuer with a slash',
      {},
      { iss: `${issuer}/` },
      { claim: 'iss', received: `${issuer}/`, expected: issuer },
    ],
    ['no issuer', {}, { iss: undefined }, { claim: 'iss', received: null, expected: issuer }],
    [
      'no exp',
      {},
      { exp: undefined },
      { claim: 'exp', received: null, expected: expect.stringContaining('a time after') },
    ],
    [
      'an expiry that is a text',
      {},
      { exp: 'tomorrow' },
      { claim: 'exp', received: 'tomorrow', expected: 'a number' },
    ],
    [
      'an expiry in the past',
      {},
      { exp: 1_000_000_000 },
      {
        claim: 'exp',
        received: '2001-09-09T01:46:40.000Z',
        expected: expect.stringMatching(/^a time after 20/),
      },
    ],
    [
      'an expiry that no date can hold',
      {},
      { exp: 1e300 },
      { claim: 'exp', received: '1e+300', expected: expect.stringMatching(/^a time after 20/) },
    ],
    [
      'a time in the future',
      {},
      { nbf: 4_000_000_000 },
      {
        claim: 'nbf',
        received: '2096-10-02T07:06:40.000Z',
        expected: expect.stringMatching(/^a time before 20/),
      },
    ],
    [
      'no jti',
      {},
      { jti: undefined },
      { claim: 'jti', received: null, expected: 'a value, as RFC 9068 requires' },
    ],
    [
      'another key ID',
      { kid: 'unknown' },
      {},
      { claim: 'kid', received: 'unknown', expected: `the ID of a key of ${issuer} for ES256` },
    ],
    [
      'a critical header',
      { crit: ['exotic'], exotic: 1 },
      {},
      { claim: 'crit', received: 'exotic', expected: 'supported values' },
    ],
  ])('names claim, received and expected value: %s', async (_name, header, claims, reason) => {
    const key = await createSigningKey()
    const { sign, reasonFor } = verifierFor([key], { audience: ['orders', 'billing'] })
    const token =
      'crit' in header
        ? `${btoa(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', ...header })).replaceAll('=', '')}.${(await sign(key)).split('.').slice(1).join('.')}`
        : await sign(key, header, claims)
    expect(await reasonFor(token)).toEqual(reason)
  })

  it('is the algorithm, the signature or the format of a token that is not verified', async () => {
    const key = await createSigningKey()
    const { sign, reasonFor } = verifierFor([key], { algorithms: ['ES256'] })
    const [header, payload, signature] = (await sign(key)).split('.') as [string, string, string]
    const changed = signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    const none = btoa('{"alg":"none"}').replaceAll('=', '')
    expect(await reasonFor(`${none}.${payload}.`)).toEqual({
      claim: 'alg',
      received: 'none',
      expected: 'ES256',
    })
    expect(await reasonFor(`${header}.${payload}.${changed}`)).toEqual({
      claim: 'signature',
      received: 'invalid',
      expected: `a signature by a key of ${issuer}`,
    })
    expect(await reasonFor('opaque')).toEqual({
      claim: 'format',
      received: 'an opaque token',
      expected: 'a signed JWT',
    })
    expect(await reasonFor(`${header}.a.b.c.d`)).toMatchObject({ received: 'an encrypted token' })
    expect(await reasonFor('a"b')).toMatchObject({ claim: 'format', received: 'malformed' })
  })

  it('is on one line, short, and never contains the token', async () => {
    const key = await createSigningKey()
    const { sign, reasonFor } = verifierFor([key])
    const token = await sign(key, {}, { aud: `a\nb\u001b[31m\u202e\u2028${'x'.repeat(500)}` })
    const reason = (await reasonFor(token)) as { received: string }
    expect(reason.received).toMatch(/^a\ufffdb\ufffd\[31m\ufffd\ufffdx+…$/)
    expect(reason.received).toHaveLength(200)
    const error: unknown = await createTokenVerifier({ issuer, audience, jwks: { keys: [] } })
      .verify(`Bearer ${token}`)
      .catch((thrown: unknown) => thrown)
    for (const part of token.split('.')) expect(JSON.stringify(error)).not.toContain(part)
  })
})

it('a condition of the verifier that throws fails, and does not accept the token', async () => {
  const key = await createSigningKey()
  const where = () => {
    throw new RangeError('of the application')
  }
  const { sign } = verifierFor([key])
  const verifier = createTokenVerifier({
    issuer,
    audience,
    jwks: { keys: [key.publicJwk] },
    where,
    clock: { now: () => 0, monotonic: () => 0 },
  })
  await expect(verifier.verify(`Bearer ${await sign(key, {}, { exp: 1_000 })}`)).rejects.toThrow(RangeError)
})

describe('a key set', () => {
  const weak = {
    ...generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' }),
    use: 'sig',
  } as SigningKey['publicJwk']
  const unusable = [
    weak,
    { kty: 'RSA', n: 5, e: 'AQAB' },
    { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', alg: 'ES256' },
    { kty: 'unknown' },
    {},
  ] as SigningKey['publicJwk'][]

  it.each([
    ['first', (key: SigningKey) => [...unusable.map((publicJwk) => ({ ...key, publicJwk })), key]],
    ['last', (key: SigningKey) => [key, ...unusable.map((publicJwk) => ({ ...key, publicJwk }))]],
  ])(
    'with keys that are not usable %s verifies tokens by the others, with and without a key ID',
    async (_place, keysOf) => {
      for (const alg of ['RS256', 'ES256']) {
        const key = await createSigningKey(alg)
        const { sign, statusOf } = verifierFor(keysOf(key))
        expect(await statusOf(await sign(key, { alg }))).toBe(200)
        expect(await statusOf(await sign(key, { alg, kid: key.publicJwk.kid }))).toBe(200)
        expect(await statusOf(await sign(await createSigningKey(alg), { alg }))).toBe(401)
      }
    },
  )

  it('with a key that is not usable rejects tokens that name it', async () => {
    const key = await createSigningKey()
    const broken = { ...key, publicJwk: { ...unusable[2]!, kid: 'broken' } }
    const { sign, reasonFor } = verifierFor([broken])
    expect(await reasonFor(await sign(key, { kid: 'broken' }))).toMatchObject({
      claim: 'kid',
      received: 'broken',
      expected: expect.stringContaining('the ID of a key that can be used'),
    })
  })

  it.each<[unknown, string]>([
    [{ keys: [null] }, 'jwks.keys[0] is not a JSON Web Key, but null.'],
    [{ keys: [{ kty: 'EC' }, 'private'] }, 'jwks.keys[1] is not a JSON Web Key, but a string.'],
    [{}, 'jwks must be a key set, as in { keys: [...] }.'],
    [[], 'jwks must be a key set, as in { keys: [...] }.'],
  ])('that is not a key set is a configuration error: %j', (jwks, message) => {
    expect(() => verifierFor([], { jwks: jwks as never })).toThrow(message)
  })
})

describe("clients: 'any'", () => {
  const api = 'https://orders.example.com'

  it('accepts every client of the issuer, and no ID token', async () => {
    const key = await createSigningKey()
    const { sign, reasonFor } = verifierFor([key], { typ: 'JWT', audience: api, clients: 'any' })
    const reasonOf = async (claims: object) =>
      reasonFor(await sign(key, { typ: 'JWT' }, { client_id: undefined, aud: api, ...claims }))
    expect(await reasonOf({ azp: 'shop' })).toBeNull()
    expect(await reasonOf({ azp: 'phone-app' })).toBeNull()
    expect(await reasonOf({})).toBeNull()
    expect(await reasonOf({ azp: 'shop', aud: 'shop' })).toMatchObject({ claim: 'aud' })
    for (const claim of ['nonce', 'at_hash', 'c_hash'])
      expect(await reasonOf({ azp: 'shop', [claim]: 'x' })).toMatchObject({ claim })
    for (const aud of [api, [api]]) {
      expect(await reasonOf({ azp: api, aud })).toMatchObject({
        claim: 'azp',
        received: api,
        expected: 'another client than the audience',
      })
    }
    expect(await reasonOf({ azp: api, aud: [api, 'other'] })).toBeNull()
  })

  it.each<[object, boolean]>([
    [{ audience: 'orders' }, true],
    [{ audience: 'orders', typ: ['at+jwt', 'application/at+jwt'] }, true],
    [{ audience: 'orders', typ: 'JWT' }, false],
    [{ audience: 'orders', typ: false }, false],
    [{ audience: [api, 'orders'], typ: 'JWT' }, false],
    [{ audience: [api, 'api://orders'], typ: 'JWT' }, true],
    [{ audience: 'mailto:orders', typ: 'JWT' }, false],
    [{ audience: false, scopes: ['orders:read'] }, false],
  ])('requires a type of its own, or URLs as audiences: %j', (options, isAllowed) => {
    const create = () => verifierFor([], { clients: 'any', ...options })
    if (isAllowed) expect(create).not.toThrow()
    else expect(create).toThrow(/clients/)
  })
})

describe('several issuers', () => {
  const [a, b] = ['https://a.example.com', 'https://b.example.com']

  async function start(
    issuers?: TokenVerifierOptions['issuers'],
    options: Partial<TokenVerifierOptions> = {},
  ) {
    // Both issuers use the same key ID.
    const keys = { [a]: await createSigningKey('ES256', 'key'), [b]: await createSigningKey('ES256', 'key') }
    const known = [a, b].map((each) => ({
      issuer: each,
      audience: `${each}/api`,
      jwks: { keys: [keys[each]!.publicJwk] },
    }))
    const verifier = createTokenVerifier({
      issuers: issuers ?? known,
      ...options,
    })
    const sign = (iss: string, key: string, aud = `${iss}/api`, claims: object = {}) =>
      new SignJWT({ client_id: 'client', jti: crypto.randomUUID(), ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'key' })
        .setIssuer(iss)
        .setAudience(aud)
        .setSubject('client')
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(keys[key]!.privateKey)
    const statusOf = (token: string): Promise<number> =>
      verifier.verify(`Bearer ${token}`).then(
        ({ issuer: found }) => (found === undefined ? 0 : 200),
        ({ status }: { status: number }) => status,
      )
    return { known, keys, sign, statusOf, verifier }
  }

  it('are chosen by the exact iss, never by a key that fits', async () => {
    const { sign, statusOf } = await start()
    expect(await statusOf(await sign(a, a))).toBe(200)
    expect(await statusOf(await sign(b, b))).toBe(200)
    expect(await statusOf(await sign(a, b))).toBe(401)
    expect(await statusOf(await sign(b, a))).toBe(401)
    expect(await statusOf(await sign(a, a, `${b}/api`))).toBe(401)
    for (const iss of [`${a}/`, 'https://A.example.com', 'https://c.example.com', '', '__proto__']) {
      expect(await statusOf(await sign(iss, a, `${a}/api`))).toBe(401)
    }
  })

  it('may have names that are not ASCII', async () => {
    const key = await createSigningKey()
    const name = 'https://bücher.example.com/ä'
    const others = { audience, jwks: { keys: [key.publicJwk] } }
    const { sign, clock } = verifierFor([])
    const verifier = createTokenVerifier({
      issuers: [
        { issuer: name, ...others },
        { issuer: 'https://bÃ¼cher.example.com/Ã¤', ...others, audience: 'wrong' },
      ],
      clock,
    })
    const token = await sign(key, {}, { iss: name })
    expect(await verifier.verify(`Bearer ${token}`)).toMatchObject({ issuer: name })
  })

  it('are found by a function, whose changes apply at once', async () => {
    const calls: string[] = []
    const { known, sign, statusOf } = await start(async (name) => {
      calls.push(name)
      if (name === 'https://down.example.com') throw new Error('database')
      return tenants.find((one) => one.issuer === name)
    })
    const tenants = [...known]
    expect(await statusOf(await sign(a, a))).toBe(200)
    expect(await statusOf(await sign(b, a))).toBe(401)
    expect(await statusOf(await sign('https://c.example.com', a))).toBe(401)
    expect(await statusOf(await sign('https://down.example.com', a))).toBe(503)
    tenants.length = 1
    expect(await statusOf(await sign(b, b))).toBe(401)
    tenants[0] = { ...known[0]!, audience: 'other' }
    expect(await statusOf(await sign(a, a))).toBe(401)
    expect(await statusOf(await sign(a, a, 'other'))).toBe(200)
    expect(calls).toContain('https://c.example.com')
  })

  it('do not stand in for one another', async () => {
    const { known, sign, statusOf } = await start(() => known[1])
    expect(await statusOf(await sign(a, b, `${b}/api`))).toBe(401)
  })

  it('request the keys of the issuer that is named, and of no other', async () => {
    const requested: string[] = []
    const { keys, sign, statusOf } = await start(
      [
        { issuer: a, audience: `${a}/api` },
        { issuer: b, audience: `${b}/api` },
      ],
      {
        fetch: async (input) => {
          const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
          requested.push(origin)
          if (pathname === '/jwks') return Response.json({ keys: [keys[origin]!.publicJwk] })
          return Response.json({ issuer: origin, jwks_uri: `${origin}/jwks` })
        },
      },
    )
    expect(await statusOf(await sign('https://c.example.com', a))).toBe(401)
    expect(await statusOf(await sign(a, b))).toBe(401)
    expect(await statusOf(await sign(a, a))).toBe(200)
    expect(new Set(requested)).toEqual(new Set([a]))
  })

  it.each<[Partial<TokenVerifierOptions>, string]>([
    [{ issuer: a, issuers: [{ issuer: b, audience: 'x' }] }, 'issuer and issuers are mutually exclusive.'],
    [{ issuers: [] }, 'issuers must contain at least one issuer.'],
    [{ issuers: [{ issuer: a }] }, 'audience is missing.'],
    [
      {
        issuers: [
          { issuer: a, audience: 'x' },
          { issuer: a, audience: 'y' },
        ],
      },
      'issuers must name each issuer once.',
    ],
    [{ issuers: [{ issuer: 'http://a.example.com', audience: 'x' }] }, 'issuer must start with https://'],
    [
      { issuers: [{ issuer: a, audience: 'x', jwksUrl: 'http://a.example.com' }] },
      'jwksUrl must start with https://',
    ],
    [
      { issuers: [{ issuer: a, audience: 'x', scope: ['orders'] } as never] },
      'scope is not an option. Set scopes.',
    ],
    [{ issuer: a, audience: 'x', checkRevocation: true }, 'checkRevocation requires introspection.'],
  ])('%j are rejected', (options, message) => {
    expect(() => createTokenVerifier(options)).toThrow(message)
  })

  it('with checkRevocation, a JWT is introspected as well, after its signature', async () => {
    const introspected: string[] = []
    const revoked = new Set<string>()
    const { sign, statusOf } = await start(undefined, {
      checkRevocation: true,
      introspection: { authUrl: a, clientId: 'api', clientSecret: 'secret', cacheMs: 0 },
      fetch: async (_url, init) => {
        const token = new URLSearchParams(init?.body as URLSearchParams).get('token')!
        introspected.push(token)
        return Response.json({ active: !revoked.has(token) })
      },
    })
    const [valid, forged] = [await sign(a, a), await sign(a, b)]
    expect(await statusOf(forged)).toBe(401)
    expect(introspected).toEqual([])
    expect(await statusOf(valid)).toBe(200)
    revoked.add(valid)
    expect(await statusOf(valid)).toBe(401)
    expect(introspected).toEqual([valid, valid])
  })

  it.each(['a list', 'a function'])('in %s are asked about what a response leaves of a JWT', async (kind) => {
    const { known, sign } = await start()
    const list = known.map((each) => ({ ...each, scopes: ['read'] }))
    const reasonWith = async (response: object) => {
      const verifier = createTokenVerifier({
        issuers: kind === 'a list' ? list : (iss) => list.find((each) => each.issuer === iss),
        checkRevocation: true,
        introspection: { authUrl: a, clientId: 'api', clientSecret: 'secret' },
        fetch: async () => Response.json({ active: true, ...response }),
      })
      const token = await sign(a, a, `${a}/api`, { scope: 'read write' })
      return verifier.verify(`Bearer ${token}`).then(
        () => 'accepted',
        ({ reason }: TokenVerificationError) => reason,
      )
    }
    expect(await reasonWith({})).toBe('accepted')
    expect(await reasonWith({ iss: a, scope: 'read', aud: `${a}/api` })).toBe('accepted')
    expect(await reasonWith({ iss: b })).toMatchObject({ claim: 'iss', received: b })
    expect(await reasonWith({ scope: 'write' })).toMatchObject({ claim: 'scope' })
    expect(await reasonWith({ aud: `${b}/api` })).toMatchObject({ claim: 'aud', expected: `${a}/api` })
  })
})

describe('checkRevocation', () => {
  const start = async (response: object, options: Partial<TokenVerifierOptions> = {}) => {
    const key = await createSigningKey()
    const { verifier, sign, reasonFor } = verifierFor([key], {
      checkRevocation: true,
      introspection: { authUrl: issuer, clientId: 'api', clientSecret: 'secret' },
      fetch: async () => Response.json({ active: true, ...response }),
      ...options,
    })
    return { verifier, reasonFor, create: (claims: object) => sign(key, {}, claims) }
  }
  type Claims = Partial<Record<'scope' | 'scp' | 'api_products' | 'aud', string | string[]>>
  const claims: Claims = {
    scope: 'read write',
    api_products: ['orders', 'billing'],
    aud: [audience, 'stock'],
  }

  it.each<[Claims, object, Claims]>([
    [claims, {}, {}],
    [claims, { scope: 'write read', aud: ['stock', audience, 'new'] }, {}],
    [
      claims,
      { scope: 'admin write', api_products: ['billing', 'new'], aud: audience },
      { scope: 'write', api_products: ['billing'], aud: [audience] },
    ],
    [claims, { scope: '', api_products: [] }, { scope: '', api_products: [] }],
    [claims, { scope: null, api_products: null }, { scope: '', api_products: [] }],
    [claims, { scp: ['read'] }, { scope: 'read' }],
    [{ scp: ['read', 'write'] }, { scope: 'read' }, { scp: ['read'] }],
    [{ aud: audience }, { aud: [audience], scope: 'read', api_products: ['orders'] }, {}],
  ])('of the JWT %j leaves what the response %j states', async (own, response, changed) => {
    const { verifier, create } = await start(response)
    const token = await verifier.verify(`Bearer ${await create(own)}`)
    const left = { aud: audience, ...own, ...changed }
    const { scope, scp, api_products, aud } = left
    expect(token.claims).toEqual({ ...token.claims, ...left })
    expect(token).toMatchObject({
      issuer,
      scopes: [scope ?? scp ?? []].flat().join(' ').split(' ').filter(Boolean),
      products: api_products ?? [],
      audience: [aud].flat(),
    })
  })

  it.each<[Partial<TokenVerifierOptions>, object, string]>([
    [{ scopes: ['read'] }, { scope: 'write' }, 'scope'],
    [{ products: ['orders'] }, { api_products: ['billing'] }, 'api_products'],
    [{ claims: { scope: 'read' } }, { scope: 'write' }, 'scope'],
    [{ audience: [audience, 'parts'] }, { aud: ['parts', 'stock'] }, 'aud'],
  ])('rejects a JWT of which too little is left for %j', async (options, response, claim) => {
    const reasonWith = async (stated: object) => {
      const { create, reasonFor } = await start(stated, options)
      return reasonFor(await create(claims))
    }
    expect(await reasonWith({})).toBeNull()
    expect(await reasonWith(response)).toMatchObject({ claim })
  })
})
