import { calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose'
import type { AlterJwt, UnsignedJwt } from '../oauth/jwt-access-token.ts'

/** What can be wrong with a JWT. */
export const jwtFlaws = [
  'expired',
  'wrong_audience',
  'wrong_issuer',
  'wrong_type',
  'wrong_binding',
  'unknown_key',
  'old_key',
  'wrong_signature',
] as const

export type JwtFlaw = (typeof jwtFlaws)[number]

/** Makes a JWT that an API must reject. */
export function createFlaws(): (flaw: JwtFlaw) => AlterJwt {
  let old: Promise<Pick<UnsignedJwt, 'key'> & { readonly kid: string }> | undefined

  const withClaims = ({ claims, ...jwt }: UnsignedJwt, changed: UnsignedJwt['claims']) => ({
    ...jwt,
    claims: { ...claims, ...changed },
  })
  const withKey = async (
    { header, claims }: UnsignedJwt,
    another: Promise<Pick<UnsignedJwt, 'key'> & { readonly kid: string }>,
  ) => {
    const { kid, key } = await another
    return { header: { ...header, kid }, claims, key }
  }

  const flaws: Record<JwtFlaw, AlterJwt> = {
    expired: async (jwt) => {
      const { iat = 0, exp = 0 } = jwt.claims
      const seconds = exp - iat + 3_600
      return withClaims(jwt, { iat: iat - seconds, exp: exp - seconds })
    },
    wrong_audience: async (jwt) => withClaims(jwt, { aud: 'https://another-api.invalid' }),
    wrong_issuer: async (jwt) => withClaims(jwt, { iss: 'https://another-issuer.invalid' }),
    wrong_type: async ({ header, ...jwt }) => ({ ...jwt, header: { ...header, typ: 'JWT' } }),
    wrong_binding: async (jwt) => withClaims(jwt, { cnf: { jkt: (await newKey(jwt.header.alg)).kid } }),
    unknown_key: (jwt) => withKey(jwt, newKey(jwt.header.alg)),
    // The same one each time, as after a rotation.
    old_key: (jwt) => withKey(jwt, (old ??= newKey(jwt.header.alg))),
    wrong_signature: async ({ header, claims }) => ({ header, claims, key: (await newKey(header.alg)).key }),
  }
  return (flaw) => flaws[flaw]
}

async function newKey(algorithm: string) {
  const { publicKey, privateKey: key } = await generateKeyPair(algorithm)
  return { kid: await calculateJwkThumbprint(await exportJWK(publicKey)), key }
}
