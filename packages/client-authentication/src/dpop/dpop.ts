import { headerValue, type TokenBinding } from '@tokenwell/core'
import { base64url, SignJWT } from 'jose'
import { explainClockSkew } from '../clock-skew.ts'
import { Nonces } from './nonces.ts'
import { importProofKey, type KeyPairInput, type ProofKey } from './proof-key.ts'

export interface DpopOptions {
  /**
   * The key pair; processes that share tokens through a store need the same one.
   * @default a new pair for ES256, of this process alone
   */
  readonly keyPair?: KeyPairInput | undefined
}

/** How far a server's clock may be behind. */
const skewSeconds = 5

/**
 * Binds tokens to a key (DPoP, RFC 9449): each request proves that its sender holds the key, so that a stolen token is
 * of no use to others.
 *
 * @example
 * const tokens = createTokenProvider(clientCredentials({ tokenUrl, clientId, clientSecret, binding: dpop() }))
 * const api = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'] })
 */
export function dpop({ keyPair }: DpopOptions = {}): TokenBinding {
  const nonces = new Nonces()
  let key: Promise<ProofKey> | undefined
  let last: { readonly token: string; readonly hash: Promise<string> } | undefined

  const load = (): Promise<ProofKey> => (key ??= importProofKey(keyPair))
  const hashOf = (token: string): Promise<string> => {
    if (last?.token !== token) last = { token, hash: sha256(token) }
    return last.hash
  }

  return {
    tokenType: 'DPoP',
    isShareable: keyPair !== undefined,
    fingerprint: async () => `dpop ${(await load()).thumbprint}`,
    async prove({ method, url, accessToken }) {
      const { privateKey, algorithm, publicJwk } = await load()
      const ath = accessToken === undefined ? undefined : await hashOf(accessToken)
      const nonce = nonces.get(url.origin)
      const claims = {
        htm: method.toUpperCase(),
        htu: url.origin + url.pathname,
        jti: crypto.randomUUID(),
        iat: Math.floor(Date.now() / 1000) - skewSeconds,
        ...(ath !== undefined && { ath }),
        ...(nonce !== undefined && { nonce }),
      }
      const header = { typ: 'dpop+jwt', alg: algorithm, jwk: publicJwk }
      return { DPoP: await new SignJWT(claims).setProtectedHeader(header).sign(privateKey) }
    },
    receive({ origin }, headers, oauthError) {
      const nonce = headerValue(headers, 'dpop-nonce')
      if (!nonce) return false
      nonces.set(origin, nonce)
      return /\buse_dpop_nonce\b/.test(oauthError ?? headerValue(headers, 'www-authenticate') ?? '')
    },
    explain: explainClockSkew,
  }
}

async function sha256(text: string): Promise<string> {
  return base64url.encode(
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))),
  )
}
