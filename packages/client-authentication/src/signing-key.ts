import { configurationError } from '@tokenwell/core/protocol'
import {
  base64url,
  calculateJwkThumbprint,
  exportJWK,
  importJWK,
  importPKCS8,
  importX509,
  type CryptoKey,
  type JWK,
} from 'jose'

/** A private key: a `CryptoKey`, a JWK, or PEM text with a PKCS #8 key, beside which there may be certificates. */
export type SigningKeyInput = CryptoKey | JWK | string

export interface SigningKey {
  readonly privateKey: CryptoKey
  readonly algorithm: string
  readonly keyId: string | undefined
  /** Identifies the key without revealing it. */
  readonly thumbprint: string
  /** Absent for a `CryptoKey` that is not extractable. */
  readonly publicJwk: JWK | undefined
  /** The `x5t#S256` of a JWK. */
  readonly certificateThumbprint?: string | undefined
}

export interface SigningKeyOptions {
  readonly keyId?: string | undefined
  readonly algorithm?: string | undefined
}

const curves: Readonly<Record<string, string>> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  Ed25519: 'EdDSA',
}

/** @throws {TokenError} of kind `configuration`, which does not quote the key */
export async function importSigningKey(
  input: SigningKeyInput,
  options: SigningKeyOptions,
): Promise<SigningKey> {
  if (typeof input === 'string') return fromPem(input, options)
  if (typeof input === 'object' && input !== null && isKeyObject(input)) {
    throw configurationError(
      "key is a KeyObject of node:crypto. Pass PEM text: key.export({ type: 'pkcs8', format: 'pem' }).",
    )
  }
  if (isCryptoKey(input)) return fromCryptoKey(input, options)
  if (typeof input === 'object' && input !== null) return fromJwk(input, options)
  throw configurationError('key must be a CryptoKey, a JWK or PEM text.')
}

/** A `KeyObject` of node:crypto, which WebCrypto does not take. */
function isKeyObject(input: object): boolean {
  return typeof (input as { export?: unknown }).export === 'function' && 'asymmetricKeyType' in input
}

function isCryptoKey(input: CryptoKey | JWK): input is CryptoKey {
  return typeof (input as Partial<CryptoKey>)?.algorithm === 'object'
}

async function fromPem(pem: string, options: SigningKeyOptions): Promise<SigningKey> {
  const mistake = explainPem(pem)
  if (mistake !== undefined) throw configurationError(`key is not valid PEM text. ${mistake}`)
  // Key vaults and openssl pkcs12 write attributes before the key, and certificates beside it.
  const [, label] =
    /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----/.exec(pem) ?? /-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem) ?? []
  if (label === undefined)
    throw configurationError('key is not PEM text, which starts with -----BEGIN PRIVATE KEY-----.')
  if (label !== 'PRIVATE KEY') {
    throw configurationError(
      label.endsWith('PRIVATE KEY')
        ? `key contains "${label}" instead of "PRIVATE KEY". Convert it: openssl pkcs8 -topk8 -nocrypt -in key.pem`
        : `key contains "${label}". A private key is needed to sign.`,
    )
  }
  const [block] = blocksOf(pem, label)
  if (block === undefined) {
    throw configurationError('key is incomplete: its last line, -----END PRIVATE KEY-----, is missing.')
  }
  const candidates = options.algorithm ? [options.algorithm] : [...Object.values(curves), 'RS256']
  for (const algorithm of candidates) {
    const key = await importPKCS8(block, algorithm, { extractable: true }).catch(() => undefined)
    if (key) return fromCryptoKey(key, { ...options, algorithm })
  }
  throw configurationError(
    `key cannot be used for ${candidates.join(', ')}. Set algorithm to one that the key supports.`,
  )
}

async function fromJwk(jwk: JWK, options: SigningKeyOptions): Promise<SigningKey> {
  if (jwk.d === undefined)
    throw configurationError('key is a public or symmetric JWK. A private key is needed to sign.')
  const algorithm = options.algorithm ?? jwk.alg ?? (jwk.kty === 'RSA' ? 'RS256' : curves[jwk.crv ?? ''])
  if (algorithm === undefined)
    throw configurationError(
      `key has the unsupported curve "${jwk.crv}". Use ${Object.keys(curves).join(', ')} or RSA.`,
    )
  const privateKey = (await importJWK(jwk, algorithm).catch(() => {
    throw configurationError(`key is not a valid JWK for ${algorithm}.`)
  })) as CryptoKey
  checkLength(privateKey)
  return {
    privateKey,
    algorithm,
    keyId: options.keyId ?? jwk.kid,
    thumbprint: await calculateJwkThumbprint(jwk),
    publicJwk: publicPartOf(jwk),
    certificateThumbprint: jwk['x5t#S256'],
  }
}

/** The complete blocks of a PEM text that have this label. */
function blocksOf(pem: string, label: string): readonly string[] {
  return pem.match(new RegExp(`-----BEGIN ${label}-----[^-]+-----END ${label}-----`, 'g')) ?? []
}

/**
 * The thumbprint of the key's certificate, by which Entra ID finds it (RFC 7515, section 4.1.8).
 *
 * @param pem one certificate, or a chain with it
 * @throws {TokenError} of kind `configuration` if none is that of the key
 */
export async function certificateThumbprint(
  pem: string,
  { algorithm, publicJwk, thumbprint }: SigningKey,
): Promise<string> {
  const certificates = typeof pem === 'string' ? blocksOf(pem, 'CERTIFICATE') : []
  if (certificates.length === 0) {
    throw configurationError('certificate is not PEM text, which starts with -----BEGIN CERTIFICATE-----.')
  }
  for (const certificate of certificates) {
    const key = await importX509(certificate, algorithm, { extractable: true }).catch(() => undefined)
    const ofKey = key && (await calculateJwkThumbprint(await exportJWK(key)))
    // A key that is not extractable shows nothing that could be compared.
    if (ofKey === undefined || (publicJwk !== undefined && ofKey !== thumbprint)) continue
    const der = Uint8Array.from(atob(certificate.replaceAll(/-----[^-]+-----|\s/g, '')), (c) =>
      c.charCodeAt(0),
    )
    return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', der)))
  }
  throw configurationError('certificate is not that of the key.')
}

async function fromCryptoKey(key: CryptoKey, { keyId, algorithm }: SigningKeyOptions): Promise<SigningKey> {
  if (key.type !== 'private')
    throw configurationError(`key is a ${key.type} key. A private key is needed to sign.`)
  if (!key.usages.includes('sign'))
    throw configurationError(
      `key is for ${key.algorithm.name} and cannot sign. Import it with the usage "sign".`,
    )
  checkLength(key)
  if (!key.extractable && keyId === undefined) {
    throw configurationError('keyId is missing. A CryptoKey that is not extractable requires it.')
  }
  const jwk = key.extractable ? await exportJWK(key) : undefined
  return {
    privateKey: key,
    algorithm: algorithm ?? algorithmOf(key),
    keyId,
    thumbprint: jwk ? await calculateJwkThumbprint(jwk) : keyId!,
    publicJwk: jwk && publicPartOf(jwk),
  }
}

/** RFC 7518 section 3.3: shorter keys are rejected when they sign. */
function checkLength({ algorithm }: CryptoKey): void {
  const { modulusLength: bits = 2048 } = algorithm as { modulusLength?: number }
  if (bits < 2048) {
    throw configurationError(
      `key is an RSA key of ${bits} bits; at least 2048 are required. Create another one: openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048`,
    )
  }
}

function publicPartOf({ kty, crv, x, y, n, e }: JWK): JWK {
  return JSON.parse(JSON.stringify({ kty, crv, x, y, n, e })) as JWK
}

function algorithmOf({ algorithm }: CryptoKey): string {
  const { name, hash, namedCurve } = algorithm as {
    name: string
    hash?: { name: string }
    namedCurve?: string
  }
  const bits = hash?.name.replace('SHA-', '')
  if (name === 'RSASSA-PKCS1-v1_5') return `RS${bits}`
  if (name === 'RSA-PSS') return `PS${bits}`
  const found = curves[namedCurve ?? name]
  if (found === undefined)
    throw configurationError(`key is for ${name}, which is not a supported signature algorithm.`)
  return found
}

/** What is wrong with a text that should be PEM, if it is a mistake that environment variables and YAML files cause. */
export function explainPem(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined
  const trimmed = text.trim()
  if (/^["']/.test(trimmed)) return 'It is in quotation marks: remove them.'
  if (text.includes(String.raw`\n`)) {
    return String.raw`It contains \n as two characters: replace them by line breaks, such as with key.replaceAll('\\n', '\n').`
  }
  if (/ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(text)) {
    return 'It is encrypted. Decrypt it: openssl pkcs8 -topk8 -nocrypt -in key.pem'
  }
  return undefined
}
