import { TokenError, type Clock } from '@tokenwell/core'
import { errorCode } from '@tokenwell/core/protocol'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, type JWTVerifyResult } from 'jose'
import type { VerifiedRequest } from '../http/node-request.ts'
import { sameTarget } from '../http/request-target.ts'
import { tokenError, type TokenVerificationFailure } from '../http/token-verification-error.ts'
import { orAborted, withDeadline } from './deadline.ts'
import { digest } from './digest.ts'

/** How proofs of possession are checked (RFC 9449). With this option, challenges offer DPoP. */
export interface DpopOptions {
  /** Rejects tokens that are not bound to a key. @default false */
  readonly required?: boolean | undefined
  /** @default ES256, ES384, ES512, EdDSA, Ed25519, RS256 and PS256 */
  readonly algorithms?: readonly string[] | undefined
  /** Maximum age of a proof. @default 60 */
  readonly maxAgeSeconds?: number | undefined
  /** Maximum number of proofs remembered, so that none is accepted twice; beyond it, requests get a 503. @default 200_000 */
  readonly maxProofs?: number | undefined
  /**
   * Remembers a proof for several processes, until it expires; returns false if it is already known. If it throws, or
   * takes longer than 5 s, the request gets a 503.
   * @default the memory of this process
   */
  readonly rememberProof?: ((id: string, until: Date) => boolean | Promise<boolean>) | undefined
}

/** How far the clocks of clients may be ahead, in seconds. */
const tolerance = 5

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
  const { algorithms, clock, publicUrl, maxAgeSeconds = 60, maxProofs = 200_000 } = options
  const remember = options.rememberProof ?? createSeenProofs(maxProofs, clock)

  const verify = async (proof: string): Promise<JWTVerifyResult | undefined> => {
    try {
      return await jwtVerify(proof, EmbeddedJWK, {
        typ: 'dpop+jwt',
        algorithms: [...algorithms],
        requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
        maxTokenAge: maxAgeSeconds,
        clockTolerance: tolerance,
        currentDate: new Date(clock.now()),
      })
    } catch {
      // jose and WebCrypto may throw anything for an unusual key.
      return undefined
    }
  }

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
      const proof = await verify(request.dpop)
      if (proof === undefined) return malformedProof
      const { jti, htm, htu, iat = 0, ath } = proof.payload
      if (htm !== request.method || !sameTarget(htu, request.url, publicUrl)) {
        return invalidProof('The DPoP proof is for another request.')
      }
      if (ath !== (await digest(token))) return invalidProof('The DPoP proof is for another access token.')
      if ((await calculateJwkThumbprint(proof.protectedHeader.jwk!)) !== thumbprint) {
        return {
          code: 'invalid_token',
          message: 'The access token is bound to a different key than the one that signed the DPoP proof.',
        }
      }
      // A proof is accepted exactly as long as it is remembered: jose compares whole seconds.
      const until = new Date((iat + maxAgeSeconds + tolerance) * 1000)
      const id = await digest(`${thumbprint}.${String(jti)}`)
      try {
        const isNew = await isUnused(id, until, request.incoming ?? request)
        if (!isNew) return invalidProof('The DPoP proof has already been used.')
        return clock.now() < until.getTime() ? undefined : malformedProof
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

function invalidProof(message: string): TokenVerificationFailure {
  return { code: 'invalid_dpop_proof', message }
}

const malformedProof = invalidProof('The DPoP proof is malformed, expired or not signed by its key.')

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
