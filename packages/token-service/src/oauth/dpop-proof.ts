import { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } from 'jose'
import { assertionAlgorithms } from './assertion-algorithms.ts'
import { ProtocolError } from './protocol-error.ts'

const maxAgeSeconds = 60
// As for assertions.
const toleranceSeconds = 60

export interface DpopProofContext {
  readonly clientId: string
  /** The URL of the endpoint. */
  readonly url: string
  readonly nowMs: number
}

export interface VerifiedProof {
  /** Of the key that signed it (RFC 7638). */
  readonly keyThumbprint: string
  /** Identifies the proof among all that clients and issuers may send once. */
  readonly id: string
  /** When no instance accepts it any more, even if its clock is behind by as long as a proof is accepted. */
  readonly expiresAtMs: number
}

/**
 * Verifies a proof of possession for a token request (RFC 9449, section 4.3).
 *
 * @throws {@link ProtocolError} `invalid_dpop_proof`, which names the invalid claim
 */
export async function verifyDpopProof(
  proof: string,
  { clientId, url, nowMs }: DpopProofContext,
): Promise<VerifiedProof> {
  const invalid = (parameter?: string) => new ProtocolError('invalid_dpop_proof', { clientId, parameter })
  const verified = await jwtVerify(proof, EmbeddedJWK, {
    typ: 'dpop+jwt',
    algorithms: assertionAlgorithms,
    requiredClaims: ['jti', 'htm', 'htu', 'iat'],
    maxTokenAge: maxAgeSeconds,
    clockTolerance: toleranceSeconds,
    currentDate: new Date(nowMs),
  }).catch((error: unknown) => {
    // For an unusual key, jose and WebCrypto may throw anything.
    const isClaim = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired
    throw invalid(isClaim ? error.claim : undefined)
  })
  const { jti, htm, htu, iat = 0 } = verified.payload
  if (htm !== 'POST') throw invalid('htm')
  if (typeof htu !== 'string' || withoutQuery(htu) !== withoutQuery(url)) throw invalid('htu')
  if (typeof jti !== 'string' || jti === '' || jti.length > 512) throw invalid('jti')
  const keyThumbprint = await calculateJwkThumbprint(verified.protectedHeader.jwk!)
  return {
    keyThumbprint,
    // Neither a client ID nor the name of an issuer begins with a line break.
    id: `\n${keyThumbprint} ${jti}`,
    expiresAtMs: Math.ceil((iat + 2 * (maxAgeSeconds + toleranceSeconds)) * 1000),
  }
}

/** `htu` has neither query nor fragment, and clients that add them mean the same (RFC 9449, section 4.3). */
function withoutQuery(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const parsed = new URL(url)
  parsed.search = ''
  parsed.hash = ''
  return parsed.href
}
