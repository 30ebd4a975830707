import { checkDpopProof, proofExpiry } from '@tokenwell/resource-server/internal'
import { ProtocolError } from './protocol-error.ts'

export interface DpopProofContext {
  readonly clientId: string
  /** The URL of the endpoint. */
  readonly url: string
  readonly nowMs: number
}

export interface VerifiedProof {
  /** The thumbprint of the key that signed the proof (RFC 7638). */
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
  const checked = await checkDpopProof(proof, { method: 'POST', url, nowMs })
  if (checked.problem !== undefined) {
    const { claim } = checked.reason
    throw new ProtocolError('invalid_dpop_proof', {
      clientId,
      parameter: claim === 'format' ? undefined : claim,
    })
  }
  const { keyThumbprint, jti } = checked
  return {
    keyThumbprint,
    // Neither a client ID nor the name of an issuer begins with a line break.
    id: `\n${keyThumbprint} ${jti}`,
    // `iat` may have a fraction.
    expiresAtMs: Math.ceil(2 * proofExpiry(checked) - checked.issuedAt * 1_000),
  }
}
