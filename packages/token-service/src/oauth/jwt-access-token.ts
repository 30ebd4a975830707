import { randomUUID } from 'node:crypto'
import { SignJWT, type CryptoKey, type JWTHeaderParameters, type JWTPayload } from 'jose'
import type { Application } from '../storage/application.ts'
import type { SigningKeys } from './signing-keys.ts'

export interface UnsignedJwt {
  readonly header: JWTHeaderParameters
  readonly claims: JWTPayload
  readonly key: CryptoKey
}

export type AlterJwt = (jwt: UnsignedJwt) => Promise<UnsignedJwt>

interface GrantedJwt {
  readonly application: Application
  readonly issuer: string
  readonly audiences: readonly string[]
  /** Of the key that it is bound to (RFC 7638). */
  readonly keyThumbprint: string | undefined
  readonly products: readonly string[]
  readonly scopes: readonly string[]
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** An access token that APIs verify themselves (RFC 9068). */
export async function createJwt(
  { application, issuer, audiences, keyThumbprint, products, scopes, issuedAtMs, expiresAtMs }: GrantedJwt,
  signingKeys: SigningKeys,
  alter: AlterJwt = async (jwt) => jwt,
): Promise<string> {
  const { clientId } = application
  const { kid, algorithm: alg, key: signingKey } = await signingKeys.current()
  const { header, claims, key } = await alter({
    header: { alg, typ: 'at+jwt', kid },
    claims: {
      ...application.claims,
      iss: issuer,
      sub: clientId,
      client_id: clientId,
      aud: audiences.length === 1 ? audiences[0]! : [...audiences],
      ...(scopes.length > 0 && { scope: scopes.join(' ') }),
      ...(products.length > 0 && { api_products: products }),
      ...(keyThumbprint !== undefined && { cnf: { jkt: keyThumbprint } }),
      jti: randomUUID(),
      iat: Math.floor(issuedAtMs / 1000),
      exp: Math.floor(expiresAtMs / 1000),
    },
    key: signingKey,
  })
  return new SignJWT(claims).setProtectedHeader(header).sign(key)
}
