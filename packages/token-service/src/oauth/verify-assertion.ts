import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { createKeySet, type KeySet } from '@tokenwell/resource-server/internal'
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose'
import { assertionAlgorithms } from './assertion-algorithms.ts'
import { ProtocolError } from './protocol-error.ts'
import type { PublicKey, PublicJwk } from '../storage/application.ts'
import { KeySetUnavailable, type RemoteKeySets } from './remote-key-sets.ts'

export { createKeySet, KeySetUnavailable }

const toleranceSeconds = 60
const maxLifetimeSeconds = 3_600

export interface AssertionContext {
  readonly clientId: string
  readonly keys: readonly PublicKey[]
  /** The values of `aud` that mean this service. */
  readonly audiences: readonly string[]
  readonly nowMs: number
  readonly keySets: RemoteKeySets
}

export interface VerifiedAssertion {
  readonly key: PublicKey
  readonly jti: string
  /** When it can no longer be used, with tolerance. */
  readonly expiresAtMs: number
}

/** The client that an assertion claims to be from, before anything is verified. */
export function claimedClientId(assertion: string): string | undefined {
  return textOf(assertion, 'sub')
}

/** The issuer that a JWT claims to be from, before anything is verified. */
export function claimedIssuer(assertion: string): string | undefined {
  return textOf(assertion, 'iss')
}

function textOf(assertion: string, claim: 'iss' | 'sub'): string | undefined {
  try {
    const { [claim]: value } = decodeJwt(assertion)
    // PostgreSQL stores neither NUL nor half of a surrogate pair.
    return typeof value === 'string' && /^[^\p{Cc}\p{Cs}]+$/u.test(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What the claims of a JWT must be. */
export interface ExpectedClaims {
  readonly issuer: string
  readonly subject?: string | undefined
  readonly requiredClaims: readonly string[]
  /** The values of `aud` that mean this service. */
  readonly audiences: readonly string[]
  readonly nowMs: number
  readonly maxLifetimeSeconds: number
}

/** A claim of a JWT with a valid signature is missing, invalid or expired. */
export class InvalidClaim extends Error {
  readonly claim: string

  constructor(claim: string) {
    super(claim)
    this.claim = claim
  }
}

/**
 * Verifies a JWT for this service (RFC 7523, section 3).
 *
 * @returns its claims, and when it can no longer be used, with tolerance
 * @throws {@link InvalidClaim} {@link KeySetUnavailable} or, if the signature is not valid, an error of `jose`
 */
export async function verifyClaims(
  assertion: string,
  keys: KeySet,
  { issuer, subject, requiredClaims, audiences, nowMs, maxLifetimeSeconds }: ExpectedClaims,
): Promise<{ claims: JWTPayload; expiresAtMs: number }> {
  const { payload: claims } = await keys
    .verify(assertion, {
      algorithms: assertionAlgorithms,
      issuer,
      ...(subject !== undefined && { subject }),
      requiredClaims: [...requiredClaims],
      clockTolerance: toleranceSeconds,
      currentDate: new Date(nowMs),
    })
    .catch((error: unknown) => {
      const isInvalid = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired
      throw isInvalid ? new InvalidClaim(error.claim) : error
    })
  const { aud = [], exp = 0, iat = 0 } = claims
  const latest = nowMs / 1000 + toleranceSeconds
  const named = [aud].flat()
  // Assertions for several audiences could be used by one of them at another.
  if (named.length === 0 || !named.every((each) => audiences.includes(each))) throw new InvalidClaim('aud')
  if (typeof iat !== 'number' || iat > latest) throw new InvalidClaim('iat')
  if (exp > latest + maxLifetimeSeconds) throw new InvalidClaim('exp')
  // A NumericDate may have a fraction (RFC 7519, section 2), and a time in a database has none.
  return { claims, expiresAtMs: Math.ceil((exp + toleranceSeconds) * 1000) }
}

/**
 * Verifies a client's assertion (RFC 7523, section 3); `undefined` if none of its keys signed it.
 *
 * @throws {@link ProtocolError} that names the invalid claim, to the owner of the key only
 */
export async function verifyAssertion(
  assertion: string,
  { clientId, keys, audiences, nowMs, keySets }: AssertionContext,
): Promise<VerifiedAssertion | undefined> {
  let isUnavailable = false
  let isChecked = false
  for (const key of keys.filter((each) => isCandidate(each, assertion, nowMs))) {
    try {
      const { claims, expiresAtMs } = await verifyClaims(assertion, keysOf(key, keySets), {
        issuer: clientId,
        subject: clientId,
        requiredClaims: ['aud', 'exp', 'jti'],
        audiences,
        nowMs,
        maxLifetimeSeconds,
      })
      const { jti } = claims
      if (typeof jti !== 'string' || jti === '' || jti.length > 512) throw new InvalidClaim('jti')
      return { key, jti, expiresAtMs }
    } catch (error) {
      if (error instanceof InvalidClaim) throw invalidClaim(error.claim, clientId)
      if (error instanceof KeySetUnavailable) isUnavailable = true
      if (error instanceof errors.JWSSignatureVerificationFailed) isChecked = true
    }
  }
  if (!isChecked) await checkAgainstDecoy(assertion)
  if (isUnavailable) throw new ProtocolError('key_set_unavailable', { clientId, retryAfterSeconds: 10 })
  return undefined
}

/** A client that is unknown, or has no such key, takes as long as one whose key did not sign the assertion. */
async function checkAgainstDecoy(assertion: string): Promise<void> {
  try {
    const { alg = '' } = decodeProtectedHeader(assertion)
    const algorithms = assertionAlgorithms
    await jwtVerify(assertion, () => ({ ...decoyKey(alg) }), { algorithms })
  } catch {
    // It never matches.
  }
}

/** A client can name its key with `kid`; keys without one, such as those from PEM, are all tried. */
function isCandidate(key: PublicKey, assertion: string, nowMs: number): boolean {
  if ((key.expiresAtMs ?? Infinity) <= nowMs) return false
  if ('jwksUrl' in key) return true
  try {
    const { kid, alg } = decodeProtectedHeader(assertion)
    return [undefined, kid ?? key.jwk.kid].includes(key.jwk.kid) && [undefined, alg].includes(key.jwk.alg)
  } catch {
    return false
  }
}

/** A copy: the same object would not be imported again, which takes time that the decoy takes too. */
function keysOf(key: PublicKey, keySets: RemoteKeySets): KeySet {
  return 'jwksUrl' in key
    ? keySets.get(key.jwksUrl)
    : { verify: (token, options) => jwtVerify(token, { ...key.jwk }, options) }
}

export function invalidClaim(claim: string, clientId: string): ProtocolError {
  return new ProtocolError('invalid_assertion', { parameter: claim, clientId })
}

const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }
const decoys = new Map<string, PublicJwk>()

/** A public key for that algorithm whose private key nobody has. */
function decoyKey(algorithm: string): PublicJwk {
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
