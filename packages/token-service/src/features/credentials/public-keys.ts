import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { keyName, parsePublicKeys } from './parse-public-keys.ts'
import type { KeyMaterial, PublicKey } from '../../storage/application.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'

const maxKeys = 10

/** The public keys of a configured client. */
export interface PublicKeyOptions {
  /** Public keys, for authentication with `private_key_jwt` (RFC 7523). */
  readonly jwks?: { readonly keys: readonly object[] } | undefined
  /** The https URL of a JWK set with the public keys. */
  readonly jwksUrl?: string | undefined
  /** A public key or certificate as PEM. */
  readonly publicKey?: string | undefined
}

/** @throws {@link UsageError} if one of them is not a usable public key */
export function configuredKeys({ jwks, jwksUrl, publicKey }: PublicKeyOptions, nowMs: number): PublicKey[] {
  const texts = [jwks && JSON.stringify(jwks), jwksUrl, publicKey].filter((text) => text !== undefined)
  return publicKeys(texts.flatMap(parsePublicKeys), nowMs).map((key) => ({ ...key, configured: true }))
}

/** An ID is never used twice: tokens of a key that was removed stay revoked when the same key is added again. */
export function publicKeys(materials: readonly KeyMaterial[], nowMs: number, name?: string): PublicKey[] {
  return materials.map((material) => ({
    ...material,
    id: randomUUID(),
    name: name ?? keyName(material),
    createdAtMs: nowMs,
  }))
}

/** @throws {@link UsageError} if there would be more than ten */
export function withKeys(keys: readonly PublicKey[], added: readonly PublicKey[]): PublicKey[] {
  const all = [...keys, ...added]
  if (all.length <= maxKeys) return all
  throw new UsageError(`At most ${maxKeys} public keys are allowed, not ${all.length}. Remove some first.`)
}

/** @throws {@link NotFoundError} if there is no key with that ID */
export function withNewName(keys: readonly PublicKey[], id: string, name: string): PublicKey[] {
  if (!keys.some((key) => key.id === id))
    throw new NotFoundError(`There is no public key with the ID "${id}".`)
  return keys.map((key) => (key.id === id ? { ...key, name } : key))
}

/** A configured key is kept as expired, so that the next start does not add it again. */
export function withoutKey(keys: readonly PublicKey[], id: string, nowMs: number): PublicKey[] {
  return keys.flatMap((key) => {
    if (key.id !== id) return [key]
    return key.configured ? [{ ...key, expiresAtMs: nowMs }] : []
  })
}

/** Adds the configured keys, and removes those that are no longer configured; `undefined`: nothing changes. */
export function withConfiguredKeys(
  keys: readonly PublicKey[],
  configured: readonly PublicKey[],
): PublicKey[] | undefined {
  const isConfigured = (key: PublicKey) => configured.some((each) => isSameKey(each, key))
  const kept = keys.filter((key) => !key.configured || isConfigured(key))
  const added = configured.filter((key) => !kept.some((each) => each.configured && isSameKey(each, key)))
  return kept.length === keys.length && added.length === 0 ? undefined : [...kept, ...added]
}

function isSameKey(one: PublicKey, other: PublicKey): boolean {
  return 'jwksUrl' in one
    ? 'jwksUrl' in other && one.jwksUrl === other.jwksUrl
    : 'jwk' in other && isDeepStrictEqual(one.jwk, other.jwk)
}
