import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose'

export interface ProofKey {
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
  readonly thumbprint: string
}

export async function createProofKey(alg = 'ES256'): Promise<ProofKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk = await exportJWK(publicKey)
  return { alg, privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) }
}

export interface ProofChanges {
  /** `undefined` removes a claim. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  readonly header?: Readonly<Record<string, unknown>> | undefined
  readonly signWith?: CryptoKey | Uint8Array | undefined
}

/** A proof of possession for a POST request to the URL, with these changes. */
export function proofFor(
  url: string,
  { alg, jwk, privateKey }: ProofKey,
  { claims, header, signWith = privateKey }: ProofChanges = {},
): Promise<string> {
  const its = { jti: crypto.randomUUID(), htm: 'POST', htu: url, iat: Math.floor(Date.now() / 1000) }
  return new SignJWT({ ...its, ...claims })
    .setProtectedHeader({ typ: 'dpop+jwt', alg, jwk, ...header })
    .sign(signWith)
}
