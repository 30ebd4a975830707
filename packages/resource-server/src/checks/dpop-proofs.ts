import { TokenError, type Clock } from '@tokenwell/core'
import { errorCode } from '@tokenwell/core/protocol'
import type { VerifiedRequest } from '../http/node-request.ts'
import { rejectionReason, type RejectionReason } from '../http/rejection-reason.ts'
import { tokenError, type TokenVerificationFailure } from '../http/token-verification-error.ts'
import { orAborted, withDeadline } from './deadline.ts'
import { digest } from './digest.ts'
import { checkDpopProof, proofExpiry } from './dpop-proof.ts'

/** How proofs of possession are checked (RFC 9449). With this option, challenges offer DPoP. */
export interface DpopOptions {
  /** Rejects tokens that are not bound to a key. @default false */
  readonly required?: boolean | undefined
  /** @default RS, PS and ES with 256, 384 or 512 bits, EdDSA and Ed25519 */
  readonly algorithms?: readonly string[] | undefined
  /** Maximum age of a proof. The clocks of clients may be off by another minute, either way. @default 60 */
  readonly maxAgeSeconds?: number | undefined
  /** Maximum number of proofs remembered, so that none is accepted twice; beyond it, requests get a 503. @default 500_000 */
  readonly maxProofs?: number | undefined
  /**
   * Remembers a proof for several processes, until it expires; returns false if it is already known. If it throws, or
   * takes longer than 5 s, the request gets a 503.
   * @default the memory of this process
   */
  readonly rememberProof?: ((id: string, until: Date) => boolean | Promise<boolean>) | undefined
}

/** How long `rememberProof` may take, in milliseconds. */
const rememberTimeoutMs = 5_000

export interface DpopProofs {
  check(
    request: VerifiedRequest | undefined,
    token: string,
    thumbprint: string,
  ): Promise<TokenVerificationFailure | undefined>
}

export interface DpopProofsOptions extends DpopOptions {
  readonly algorithms: readonly string[]
  readonly publicUrl?: string | URL | undefined
  readonly clock: Clock
}

/** Checks proofs of possession (RFC 9449, section 4.3). */
export function createDpopProofs(options: DpopProofsOptions): DpopProofs {
  const { algorithms, clock, publicUrl, maxAgeSeconds, maxProofs = 500_000 } = options
  const remember = options.rememberProof ?? createSeenProofs(maxProofs, clock)

  /** Of requests: an API may check one request several times, even at once. */
  const remembered = new WeakMap<object, { readonly id: string; readonly isNew: Promise<boolean> }>()

  const isUnused = (id: string, until: Date, incoming: object): Promise<boolean> => {
    const known = remembered.get(incoming)
    if (known?.id === id) return known.isNew
    const isNew = withDeadline(rememberTimeoutMs, (signal) =>
      orAborted(signal, (async () => remember(id, until))()),
    )
    remembered.set(incoming, { id, isNew })
    return isNew
  }

  return {
    async check(request, token, thumbprint) {
      if (request?.dpop === undefined) return invalidProof('The DPoP proof is missing.')
      if (request.url === undefined) {
        return {
          code: 'invalid_request',
          message: 'The Host header or the target of the request is invalid.',
        }
      }
      const { method, url, dpop } = request
      const nowMs = clock.now()
      const proof = await checkDpopProof(dpop, {
        method,
        url,
        publicUrl,
        accessToken: token,
        algorithms,
        maxAgeSeconds,
        nowMs,
      })
      if (proof.problem !== undefined) return invalidProof(proof.problem, proof.reason)
      if (proof.keyThumbprint !== thumbprint) {
        return {
          code: 'invalid_token',
          message: 'The access token is bound to a different key than the one that signed the DPoP proof.',
          reason: rejectionReason('jkt', thumbprint, proof.keyThumbprint),
        }
      }
      // A proof is accepted exactly as long as it is remembered.
      const until = new Date(proofExpiry(proof, maxAgeSeconds))
      const id = await digest(`${thumbprint}.${proof.jti}`)
      try {
        const isNew = await isUnused(id, until, request.incoming ?? request)
        if (!isNew) return invalidProof('The DPoP proof has already been used.')
        return clock.now() < until.getTime() ? undefined : invalidProof('The DPoP proof has expired.')
      } catch (error) {
        const failed = tokenError('unavailable', `dpop.rememberProof failed (${errorCode(error)}).`)
        return {
          code: 'unavailable',
          message: 'The DPoP proof cannot be checked at the moment. Try again in a second.',
          retryAfterMs: 1_000,
          cause: error instanceof TokenError ? error : failed,
        }
      }
    },
  }
}

function invalidProof(message: string, reason?: RejectionReason): TokenVerificationFailure {
  return { code: 'invalid_dpop_proof', message, reason }
}

/**
 * Remembers proofs for as long as they could be accepted again. When it is full, it rejects new proofs rather than
 * forget old ones, which could then be replayed.
 */
function createSeenProofs(maxProofs: number, clock: Clock): (id: string, until: Date) => boolean {
  // In the order in which they came, which is nearly that in which they expire.
  const seen = new Map<string, number>()
  return (id, until) => {
    const now = clock.now()
    for (const [known, expiresAt] of seen) {
      if (expiresAt > now) break
      seen.delete(known)
    }
    if (seen.has(id)) return false
    if (seen.size >= maxProofs) {
      throw tokenError('unavailable', `dpop.maxProofs is reached: ${maxProofs} proofs are remembered.`)
    }
    seen.set(id, until.getTime())
    return true
  }
}
