import { createPublicKey, hash, type JsonWebKey, type KeyObject } from 'node:crypto'
import type { KeyMaterial, PublicJwk } from '../../storage/application.ts'
import { UsageError } from '../../runtime/usage-error.ts'

const curves = ['P-256', 'P-384', 'P-521', 'Ed25519']
const minRsaBits = 2048

/**
 * Reads public keys from PEM (a key or a certificate), a JWK, a JWK set, or the https URL of a JWK set.
 *
 * @throws {@link UsageError} if the text has another format, or contains a private, symmetric or weak key
 */
export function parsePublicKeys(text: string): KeyMaterial[] {
  const trimmed = text.trim()
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
  if (url?.protocol === 'https:' && !url.username && !url.password) return url.href
  throw new UsageError('The URL of a JWK set must start with https:// and contain no user name or password.')
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
