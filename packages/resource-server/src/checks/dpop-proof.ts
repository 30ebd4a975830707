import {
  calculateJwkThumbprint,
  EmbeddedJWK,
  errors,
  jwtVerify,
  type JWTPayload,
  type JWTVerifyResult,
} from 'jose'
import { rejectionReason, type RejectionReason } from '../http/rejection-reason.ts'
import { sameTarget } from '../http/request-target.ts'
import { asymmetricAlgorithms } from './algorithms.ts'
import { digest } from './digest.ts'

/** How old a proof may be, and how far the clocks of clients may be off besides, in seconds. */
const proofMaxAgeSeconds = 60
const proofToleranceSeconds = 60

/** What a proof must be for. */
export interface ExpectedProof {
  readonly method: string
  readonly url: string
  /** The URL that clients see, if the path of `url` alone counts. */
  readonly publicUrl?: string | URL | undefined
  /** The token that is sent with it. */
  readonly accessToken?: string | undefined
  /** @default all with a public key */
  readonly algorithms?: readonly string[] | undefined
  /** @default 60 */
  readonly maxAgeSeconds?: number | undefined
  readonly nowMs: number
}

export interface CheckedProof {
  /** The thumbprint of the key that signed the proof (RFC 7638). */
  readonly keyThumbprint: string
  readonly jti: string
  /** In seconds. */
  readonly issuedAt: number
  readonly problem?: undefined
}

/** Why a proof is rejected: for its sender, and for a log. */
export interface RejectedProof {
  readonly problem: string
  readonly reason: RejectionReason
}

/** Checks a proof of possession (RFC 9449, section 4.3), but not whether it has been used. */
export async function checkDpopProof(
  proof: string,
  expected: ExpectedProof,
): Promise<CheckedProof | RejectedProof> {
  const { method, url, publicUrl, accessToken, nowMs, maxAgeSeconds = proofMaxAgeSeconds } = expected
  const { algorithms = asymmetricAlgorithms } = expected
  let verified: JWTVerifyResult
  try {
    verified = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: [...algorithms],
      requiredClaims: ['jti', 'htm', 'htu', 'iat', ...(accessToken === undefined ? [] : ['ath'])],
      maxTokenAge: maxAgeSeconds,
      clockTolerance: proofToleranceSeconds,
      currentDate: new Date(nowMs),
    })
  } catch (error) {
    // For an unusual key, jose and WebCrypto may throw anything.
    const isClaim = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired
    if (!isClaim) return malformed('format', 'malformed, or not signed by its key', 'a signed proof')
    const { claim, payload } = error
    if (claim === 'iat' && typeof payload.iat === 'number') return outOfTime(payload.iat, expected)
    return malformed(claim, payload[claim], 'a valid value')
  }
  const { jti, htm, htu, iat = 0, ath }: JWTPayload = verified.payload
  if (htm !== method) {
    return { problem: 'The DPoP proof is for another method.', reason: rejectionReason('htm', htm, method) }
  }
  if (!sameTarget(htu, url, publicUrl)) {
    const target = publicUrl === undefined ? url : `${new URL(url, publicUrl).pathname} at ${publicUrl}`
    return { problem: 'The DPoP proof is for another URL.', reason: rejectionReason('htu', htu, target) }
  }
  if (typeof jti !== 'string' || jti === '' || jti.length > 512) {
    return malformed('jti', jti, 'a text of 1 to 512 characters')
  }
  if (accessToken !== undefined && ath !== (await digest(accessToken))) {
    return {
      problem: 'The DPoP proof is for another access token.',
      reason: rejectionReason('ath', ath, 'the hash of the access token'),
    }
  }
  return { keyThumbprint: await calculateJwkThumbprint(verified.protectedHeader.jwk!), jti, issuedAt: iat }
}

/** When a proof is no longer accepted, in milliseconds since 1970. jose compares whole seconds. */
export function proofExpiry({ issuedAt }: CheckedProof, maxAgeSeconds = proofMaxAgeSeconds): number {
  return (issuedAt + maxAgeSeconds + proofToleranceSeconds) * 1_000
}

function malformed(claim: string, received: unknown, expected: string): RejectedProof {
  return {
    problem: 'The DPoP proof is malformed or not signed by its key.',
    reason: rejectionReason(claim, received, expected),
  }
}

function outOfTime(
  issuedAt: number,
  { nowMs, maxAgeSeconds = proofMaxAgeSeconds }: ExpectedProof,
): RejectedProof {
  const seconds = Math.round(nowMs / 1_000 - issuedAt)
  const when = seconds < 0 ? `${-seconds} s in the future` : `${seconds} s ago`
  return {
    problem: `The DPoP proof was created ${when}. Check the clock of the client.`,
    reason: rejectionReason(
      'iat',
      when,
      `at most ${maxAgeSeconds + proofToleranceSeconds} s ago and ${proofToleranceSeconds} s in the future`,
    ),
  }
}
