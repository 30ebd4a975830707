import { type JsonWebKey, type KeyObject, createPublicKey, hash, randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import type { KeyMaterial, PublicJwk, PublicKey } from '../../storage/application.ts'

const maxKeys = 10

const maxTextLength = 60_000
const maxNameLength = 1_000

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

/** @throws {@link UsageError} if there would be more than ten that can be removed */
export function withKeys(
  keys: readonly PublicKey[],
  added: readonly PublicKey[],
  nowMs: number,
): PublicKey[] {
  const all = [...keys, ...added]
  const count = all.filter((key) => !isRemoved(key, nowMs)).length
  if (count <= maxKeys) return all
  throw new UsageError(`At most ${maxKeys} public keys are allowed, not ${count}. Remove some first.`)
}

/** @throws {@link NotFoundError} if there is no key with that ID */
export function withNewName(keys: readonly PublicKey[], id: string, name: string): PublicKey[] {
  if (!keys.some((key) => key.id === id))
    throw new NotFoundError(`There is no public key with the ID "${id}".`)
  return keys.map((key) => (key.id === id ? { ...key, name } : key))
}

/** A configured key is kept as expired, so that no later start adds it again. */
export function withoutKey(keys: readonly PublicKey[], id: string, nowMs: number): PublicKey[] {
  return keys.flatMap((key) => {
    if (key.id !== id) return [key]
    return key.configured ? [{ ...key, expiresAtMs: nowMs }] : []
  })
}

function isRemoved({ configured, expiresAtMs = Infinity }: PublicKey, nowMs: number): boolean {
  return configured === true && expiresAtMs <= nowMs
}

/** Whether one of the configured keys was removed. */
export function hasRemovedKey(
  keys: readonly PublicKey[],
  configured: readonly PublicKey[],
  nowMs: number,
): boolean {
  return configured.some((each) => keys.some((key) => isRemoved(key, nowMs) && isSameKey(each, key)))
}

/**
 * Adds the configured keys, and removes those that are no longer configured; `undefined`: nothing changes. A key that was removed stays
 * known: an older configuration may come back.
 */
export function withConfiguredKeys(
  keys: readonly PublicKey[],
  configured: readonly PublicKey[],
  nowMs: number,
): PublicKey[] | undefined {
  const isConfigured = (key: PublicKey) => configured.some((each) => isSameKey(each, key))
  const kept = keys.filter((key) => !key.configured || isRemoved(key, nowMs) || isConfigured(key))
  const added = configured.filter((key) => !kept.some((each) => each.configured && isSameKey(each, key)))
  return kept.length === keys.length && added.length === 0 ? undefined : [...kept, ...added]
}

function isSameKey(one: PublicKey, other: PublicKey): boolean {
  return 'jwksUrl' in one
    ? 'jwksUrl' in other && one.jwksUrl === other.jwksUrl
    : 'jwk' in other && isDeepStrictEqual(one.jwk, other.jwk)
}

const curves = ['P-256', 'P-384', 'P-521', 'Ed25519']
const minRsaBits = 2048

/**
 * Reads public keys from PEM (a key or a certificate), a JWK, a JWK set, or the https URL of a JWK set.
 *
 * @throws {@link UsageError} if the text has another format, or contains a private, symmetric or weak key
 */
export function parsePublicKeys(text: string): KeyMaterial[] {
  const trimmed = text.trim()
  if (trimmed.length > maxTextLength)
    throw new UsageError(`The public key must have at most ${maxTextLength} characters.`)
  if (/^https?:/i.test(trimmed)) return [{ jwksUrl: keySetUrl(trimmed) }]
  if (trimmed.startsWith('{')) return fromJson(trimmed)
  if (/PRIVATE KEY/.test(trimmed)) throw privateKey()
  return [{ jwk: publicJwk(() => createPublicKey(trimmed)) }]
}

/** The key's own ID or its thumbprint (RFC 7638), or the URL. */
export function keyName(material: KeyMaterial): string {
  if ('jwksUrl' in material) return material.jwksUrl
  const { kid, alg: _, ...members } = material.jwk
  // RFC 7638: the required members only, sorted by name.
  return kid ?? hash('sha256', JSON.stringify(members, Object.keys(members).sort()), 'base64url')
}

function keySetUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username || url.password)
    throw new UsageError(
      'The URL of a JWK set must start with https:// and contain no user name or password.',
    )
  if (url.href.length <= maxNameLength) return url.href
  throw new UsageError(`The URL of a JWK set must have at most ${maxNameLength} characters.`)
}

function fromJson(text: string): KeyMaterial[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new UsageError('The JWK set is not valid JSON.')
  }
  const set = value as { keys?: unknown }
  const jwks = (Array.isArray(set.keys) ? set.keys : [value]) as (JsonWebKey | null)[]
  const signing = jwks.filter((jwk) => jwk !== null && jwk['use'] !== 'enc') as JsonWebKey[]
  if (signing.length === 0) throw new UsageError('The JWK set contains no key that can verify signatures.')
  return signing.map((jwk) => ({ jwk: fromJwk(jwk) }))
}

function fromJwk(jwk: JsonWebKey): PublicJwk {
  if (jwk.d !== undefined || jwk.k !== undefined) throw privateKey()
  const { kid, alg } = jwk
  if (typeof kid === 'string' && kid.length > maxNameLength)
    throw new UsageError(`The kid of a JWK must have at most ${maxNameLength} characters.`)
  return {
    ...publicJwk(() => createPublicKey({ key: jwk, format: 'jwk' })),
    ...(typeof kid === 'string' && { kid }),
    ...(typeof alg === 'string' && { alg }),
  }
}

function publicJwk(read: () => KeyObject): JsonWebKey {
  let key: KeyObject
  let jwk: JsonWebKey
  try {
    key = read()
    jwk = key.export({ format: 'jwk' })
  } catch {
    throw new UsageError(
      'The public key is invalid. Use PEM, a JWK, a JWK set, or the https URL of a JWK set.',
    )
  }
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  const isStrong = jwk.kty === 'RSA' ? modulusLength >= minRsaBits : curves.includes(jwk.crv ?? '')
  if (isStrong) return jwk
  throw new UsageError(
    `The public key cannot be used. Use RSA with ${minRsaBits} bits or more, ${curves.slice(0, -1).join(', ')} or ${curves.at(-1)}.`,
  )
}

function privateKey(): UsageError {
  return new UsageError(
    'This is a private or symmetric key, which must never be shared. Create a new key pair, and register the public key.',
  )
}
