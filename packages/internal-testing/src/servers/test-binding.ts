import type { TokenBinding } from '@tokenwell/core'
import { headerValue, type ResponseHeaders } from '@tokenwell/core/protocol'
import { json, type ReceivedRequest, type ScriptedResponse } from './scripted-server.ts'

/** What a proof of {@link createTestBinding} states. */
export interface TestProof {
  readonly method: string
  readonly url: string
  readonly accessToken?: string | undefined
  readonly nonce?: string | undefined
  readonly id: string
}

/** A binding as `dpop()` creates one, with proofs that can be read instead of signatures. */
export function createTestBinding(): TokenBinding {
  const nonces = new Map<string, string>()
  return {
    tokenType: 'DPoP',
    checkShareable: () => {},
    fingerprint: () => 'test key',
    async send(url, send) {
      const response = await send(proofFor('POST', url))
      return remember(url, response.headers) && response.body.includes('use_dpop_nonce')
        ? send(proofFor('POST', url))
        : response
    },
    prove: async ({ method, url, accessToken }) => proofFor(method, url, accessToken),
    receive: (url, headers) =>
      remember(url, headers) && (headerValue(headers, 'www-authenticate') ?? '').includes('use_dpop_nonce'),
  }

  function proofFor(method: string, url: URL, accessToken?: string): { readonly DPoP: string } {
    const proof: TestProof = {
      method: method.toUpperCase(),
      url: url.origin + url.pathname,
      accessToken,
      nonce: nonces.get(url.origin),
      id: crypto.randomUUID(),
    }
    return { DPoP: JSON.stringify(proof) }
  }

  function remember({ origin }: URL, headers: ResponseHeaders): boolean {
    const nonce = headerValue(headers, 'dpop-nonce')
    if (nonce !== undefined) nonces.set(origin, nonce)
    return nonce !== undefined
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
