import { SignJWT, type JWTHeaderParameters } from 'jose'
import { describe, expect, it } from 'vitest'
import {
  createTokenVerifier,
  type TokenVerifierOptions,
  type VerificationEvent,
} from '@tokenwell/resource-server'
import { createFakeClock } from '@tokenwell/testing'
import { createSigningKey } from './servers/jwt-issuer.ts'

const issuer = 'https://auth.example.com'
const audience = 'orders'
type SigningKey = Awaited<ReturnType<typeof createSigningKey>>

/** A verifier that knows these keys. */
function verifierFor(keys: readonly SigningKey[]) {
  const clock = createFakeClock()
  const checks: VerificationEvent[] = []
  const verifier = createTokenVerifier({
    issuer,
    audience,
    jwks: { keys: keys.map(({ publicJwk }) => publicJwk) },
    clock,
    onEvent: (event) => event.type === 'token_checked' && checks.push(event),
  })
  const statusOf = (token: string) =>
    verifier.verify(`Bearer ${token}`).then(
      () => 200,
      ({ status }: { status: number }) => status,
    )
  const sign = ({ privateKey }: SigningKey, header: Partial<JWTHeaderParameters> = {}) =>
    new SignJWT({ client_id: 'client', jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject('client')
      .setIssuedAt(Math.floor(clock.now() / 1000))
      .setExpirationTime(Math.floor(clock.now() / 1000) + 3_600)
      .sign(privateKey)
  return { clock, checks, statusOf, sign }
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
})
