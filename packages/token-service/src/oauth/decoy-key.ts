import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { PublicJwk } from '../storage/application.ts'

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }
const decoys = new Map<string, PublicJwk>()

/** A public key for that algorithm whose private key nobody has. */
export function decoyKey(algorithm: string): PublicJwk {
  const known = decoys.get(algorithm) ?? create(algorithm)
  decoys.set(algorithm, known)
  return known
}

function create(algorithm: string): PublicJwk {
  const namedCurve = curves[algorithm]
  if (namedCurve) return generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' })
  if (algorithm.startsWith('Ed')) return generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  // A check against it takes as long with any modulus; a real one would take a tenth of a second to create.
  const modulus = randomBytes(256)
  modulus[0]! |= 0x80
  modulus[255]! |= 1
  return { kty: 'RSA', e: 'AQAB', n: modulus.toString('base64url') }
}
