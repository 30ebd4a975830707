import { headerValue, type TokenBinding } from '@tokenwell/core'
import { json, type ReceivedRequest, type ScriptedResponse } from './scripted-server.ts'

/** What a proof of {@link createTestBinding} states. */
export interface TestProof {
  readonly method: string
  readonly url: string
  readonly accessToken?: string
  readonly nonce?: string
  readonly id: string
}

/** A binding as `dpop()` creates one, with proofs that can be read instead of signatures. */
export function createTestBinding(): TokenBinding {
  const nonces = new Map<string, string>()
  return {
    tokenType: 'DPoP',
    isShareable: true,
    fingerprint: () => 'test key',
    async prove({ method, url, accessToken }) {
      const proof = {
        method: method.toUpperCase(),
        url: url.origin + url.pathname,
        accessToken,
        nonce: nonces.get(url.origin),
        id: crypto.randomUUID(),
      }
      return { DPoP: JSON.stringify(proof) }
    },
    receive({ origin }, headers, oauthError) {
      const nonce = headerValue(headers, 'dpop-nonce')
      if (nonce === undefined) return false
      nonces.set(origin, nonce)
      return (oauthError ?? headerValue(headers, 'www-authenticate') ?? '').includes('use_dpop_nonce')
    },
  }
}

/** The proof of a request; undefined without one. */
export function proofOf({ headers }: ReceivedRequest): TestProof | undefined {
  return headers['dpop'] === undefined ? undefined : (JSON.parse(String(headers['dpop'])) as TestProof)
}

/** The challenge for a proof without the current nonce (RFC 9449, section 9). */
export function nonceChallenge(nonce: string): ScriptedResponse {
  return json({ error: 'use_dpop_nonce' }, 401, {
    'www-authenticate': 'Bearer, DPoP error="use_dpop_nonce", algs="ES256"',
    'dpop-nonce': nonce,
  })
}
