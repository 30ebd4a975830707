import { createHash } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'

export interface DpopKey {
  readonly thumbprint: string
  readonly publicJwk: JWK
  readonly privateKey: CryptoKey
  /** A proof for a request, or for a token request if there is no token yet. */
  readonly prove: (
    request: { readonly method: string; readonly url: string; readonly token?: string },
    claims?: Record<string, unknown>,
    header?: Record<string, unknown>,
  ) => Promise<string>
}

export async function createDpopKey(): Promise<DpopKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const publicJwk = await exportJWK(publicKey)
  return {
    thumbprint: await calculateJwkThumbprint(publicJwk),
    publicJwk,
    privateKey,
    prove({ method, url, token }, claims = {}, header = {}) {
      const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }
      return new SignJWT({
        jti: crypto.randomUUID(),
        htm: method,
        htu: url,
        iat: Math.floor(Date.now() / 1000),
        ...ath,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey)
    },
  }
}
