import { SignJWT, type JWTHeaderParameters } from 'jose'
import { describe, expect, it } from 'vitest'
import { createTokenVerifier, type VerificationEvent } from '@tokenwell/resource-server'
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
