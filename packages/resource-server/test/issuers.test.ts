import { createHmac, createSign, generateKeyPairSync, randomUUID, type KeyObject } from 'node:crypto'
import { describe, expect, it, vi } from 'vitest'
import {
  createTokenVerifier,
  type TokenRequirements,
  type TokenVerificationError,
  type VerifiedToken,
} from '@tokenwell/resource-server'
import { requireToken } from '@tokenwell/resource-server/fetch'
import { shapes, type ChangedClaims } from './issuers/shapes.ts'

const now = Math.floor(Date.now() / 1000)
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
const [own, strange] = [rsa(), rsa()]
const publicJwk = (key: KeyObject) => ({
  ...key.export({ format: 'jwk' }),
  kid: 'k',
  alg: 'RS256',
  use: 'sig',
})
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const without = (claims: ChangedClaims) =>
  Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null))

function sign(header: object, claims: unknown, key = own.privateKey): string {
  const input = `${encode(header)}.${encode(claims)}`
  return `${input}.${createSign('sha256').update(input).sign(key, 'base64url')}`
}

describe.each(Object.entries(shapes))('%s', (_name, shape) => {
  const { header, options, clientId, met, missed, otherApi, otherClient, idTokens = [] } = shape
  const { iss } = shape.claims
  const claims = { iat: now, nbf: now, exp: now + 3_600, ...shape.claims }
  const create = (changed: ChangedClaims = {}, changedHeader: ChangedClaims = {}) =>
    sign(without({ ...header, ...changedHeader }), without({ ...claims, ...changed }))
  const jwks = { keys: [publicJwk(own.publicKey)] }
  const verifier = createTokenVerifier({ issuer: iss, ...options, jwksUrl: undefined, jwks })
  const verify = (token: string, requirements: TokenRequirements = {}) =>
    verifier.verify(`Bearer ${token}`, requirements)
  const reject = async (token: string): Promise<TokenVerificationError> =>
    verify(token).then(
      () => expect.unreachable('the token was accepted'),
      (error: TokenVerificationError) => error,
    )
  const invalid = { status: 401, code: 'invalid_token' }

  it('its tokens are accepted, with the client', async () => {
    expect<VerifiedToken>(await verify(create())).toMatchObject({ issuer: iss, clientId })
  })

  it('a requirement is met or missed', async () => {
    await expect(verify(create(), met)).resolves.toMatchObject({ issuer: iss })
    await expect(verify(create(), missed)).rejects.toMatchObject({ status: 403, code: 'insufficient_scope' })
  })

  it('a token for another API is rejected, and the log names the claim, its value and the expected one', async () => {
    const lines: string[] = []
    vi.spyOn(console, 'warn').mockImplementation((line: string) => void lines.push(line))
    const handle = requireToken(verifier, () => new Response())
    const headers = { authorization: `Bearer ${create(otherApi)}` }
    const response = await handle(new Request('https://orders.example.com/', { headers }))
    expect([response.status, await response.json()]).toEqual([
      401,
      { error: 'invalid_token', error_description: 'The access token is invalid or expired.' },
    ])
    const [claim, value] = Object.entries(otherApi)[0]!
    const expected = options.audience || options.scopes?.join(' and ')
    expect(lines).toEqual([
      `An access token was rejected: its ${claim} is "${[value].flat().join(', ')}". Expected: ${String(expected)}.`,
    ])
  })

  it('tokens of other clients, and its ID tokens, are rejected', async () => {
    for (const changed of [otherClient ?? otherApi, ...idTokens]) {
      expect(await reject(create(changed))).toMatchObject({ ...invalid, reason: expect.anything() })
    }
  })

  it('an expired token is rejected', async () => {
    expect(await reject(create({ exp: now - 60 }))).toMatchObject({ ...invalid, reason: { claim: 'exp' } })
  })

  it('hostile tokens are rejected', async () => {
    const valid = create()
    const [head, body, signature] = valid.split('.') as [string, string, string]
    const hmac = (secret: string | Buffer, changed: ChangedClaims = {}) => {
      const input = `${encode({ ...header, alg: 'HS256', ...changed })}.${body}`
      return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
    }
    const pem = own.publicKey.export({ format: 'pem', type: 'spki' })
    const foreign = (changed: ChangedClaims = {}) =>
      sign(without({ ...header, ...changed }), without(claims), strange.privateKey)
    const hostile: Readonly<Record<string, string>> = {
      'alg: none': `${encode({ ...header, alg: 'none' })}.${body}.`,
      'alg: None': `${encode({ ...header, alg: 'None' })}.${body}.${signature}`,
      'no alg': `${encode(without({ ...header, alg: null }))}.${body}.${signature}`,
      'HS256 with the public key': hmac(pem),
      'HS256 with the key as JWK': hmac(JSON.stringify(jwks.keys[0])),
      'HS256 with an empty secret': hmac(''),
      'no signature': `${head}.${body}.`,
      'a changed signature': `${head}.${body}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
      'changed claims': `${head}.${encode(without({ ...claims, sub: 'admin' }))}.${signature}`,
      'a changed header': `${encode({ ...header, x: 1 })}.${body}.${signature}`,
      'a key of a stranger under the key ID': foreign(),
      'a key of a stranger without a key ID': foreign({ kid: null }),
      'a key of a stranger in the header': foreign({ jwk: publicJwk(strange.publicKey) }),
      'jku of a stranger': foreign({ jku: 'https://evil.example/keys' }),
      'x5u of a stranger': foreign({ x5u: 'https://evil.example/cert' }),
      'another key ID': create({}, { kid: 'x' }),
      'a key ID that is a path': create({}, { kid: '../../dev/null' }),
      'a critical header': create({}, { crit: ['x'], x: 1 }),
      'alg: RS384': create({}, { alg: 'RS384' }),
      ...Object.fromEntries(
        ['dpop+jwt', 'logout+jwt', 'secevent+jwt', 'token-introspection+jwt', 'oauth-authz-req+jwt', 'x'].map(
          (typ) => [`typ: ${typ}`, create({}, { typ })],
        ),
      ),
      'another typ': create({}, { typ: header['typ'] === 'JWT' ? null : 'text' }),
      'no iss': create({ iss: null }),
      'iss with another end': create({ iss: iss.endsWith('/') ? iss.slice(0, -1) : `${iss}/` }),
      'iss in capitals': create({ iss: iss.toUpperCase() }),
      'iss as a list': create({ iss: [iss] }),
      'aud of others': create({ aud: ['https://x.example', 'https://y.example'] }),
      'aud is an empty list': create({ aud: [] }),
      'aud is an object': create({ aud: { [String(options.audience)]: true } }),
      'aud in a list in a list': create({ aud: [[options.audience]] }),
      'aud is true': create({ aud: true }),
      'no exp': create({ exp: null }),
      'exp is a text': create({ exp: String(now + 300) }),
      'exp that no date can hold': create({ exp: 1e300 }),
      'not valid before tomorrow': create({ nbf: now + 86_400 }),
      'nbf is a text': create({ nbf: 'tomorrow' }),
      'a nonce': create({ nonce: 'n' }),
      'a hash of an access token': create({ at_hash: 'h' }),
      'a hash of a code': create({ c_hash: 'h' }),
      'a logout token': create({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }),
      'an ID token of Cognito': create({ token_use: 'id' }),
      'an ID token of Keycloak': create({ typ: 'ID' }),
      'a response to an introspection': create({ token_introspection: { active: true } }),
      'claims are a list': sign(header, []),
      'claims are null': sign(header, null),
      'claims are not JSON': sign(header, '{"iss":'),
      'four parts': `${valid}.${signature}`,
      'five parts': `${valid}.a.b`,
      padding: `${head}=.${body}.${signature}`,
      'a token in a token': sign({ ...header, cty: 'JWT' }, JSON.stringify(valid)),
    }
    const accepted: string[] = []
    for (const [kind, token] of Object.entries(hostile)) {
      const status = await verify(token).then(
        () => 200,
        (error: TokenVerificationError) => error.status,
      )
      if (status !== 401) accepted.push(`${kind}: ${status}`)
    }
    expect(accepted).toEqual([])
    expect(await verify(create({ jti: randomUUID() }))).toMatchObject({ issuer: iss })
  })

  it('its options are rejected without what tells its access tokens from others', () => {
    const { typ, audience, jwksUrl } = options
    const rest = { issuer: iss, typ, jwksUrl, audience }
    expect(() => createTokenVerifier(rest)).toThrow(/clients(?: and|,) scopes/)
  })
})
