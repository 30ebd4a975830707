import { configurationError } from '@tokenwell/core/protocol'
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose'
import { importSigningKey, type SigningKey } from '../signing-key.ts'

/** A key pair: two `CryptoKey`s, or a private key as JWK or PEM (PKCS #8). */
export type KeyPairInput = KeyPair | JWK | string

export interface KeyPair {
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

export type ProofKey = SigningKey & { readonly publicJwk: JWK }

/** @throws {TokenError} of kind `configuration`, which does not quote the key */
export async function importProofKey(input: KeyPairInput | undefined): Promise<ProofKey> {
  const pair = input ?? (await generateKeyPair('ES256'))
  if (typeof pair === 'object' && 'privateKey' in pair) return fromKeyPair(pair)
  const key = await importSigningKey(pair, {})
  return { ...key, publicJwk: key.publicJwk! }
}

async function fromKeyPair({ privateKey, publicKey }: KeyPair): Promise<ProofKey> {
  if (publicKey?.type !== 'public') throw configurationError('keyPair.publicKey must be a public CryptoKey.')
  const publicJwk = await exportJWK(publicKey)
  const thumbprint = await calculateJwkThumbprint(publicJwk)
  return { ...(await importSigningKey(privateKey, { keyId: thumbprint })), thumbprint, publicJwk }
}

/** More origins than a client uses; the least recently used one is removed. */
const maxOrigins = 100

/** The most recent nonce of each server (RFC 9449, sections 8 and 9). */
export class Nonces {
  readonly #byOrigin = new Map<string, string>()

  get(origin: string): string | undefined {
    return this.#byOrigin.get(origin)
  }

  set(origin: string, nonce: string): void {
    this.#byOrigin.delete(origin)
    this.#byOrigin.set(origin, nonce)
    if (this.#byOrigin.size > maxOrigins) this.#byOrigin.delete(this.#byOrigin.keys().next().value!)
  }
}
