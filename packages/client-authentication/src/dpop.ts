import { TokenError, type TokenBinding } from '@tokenwell/core'
import {
  configurationError,
  headerValue,
  type ResponseHeaders,
  type TokenEndpointResponse,
} from '@tokenwell/core/protocol'
import {
  base64url,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
} from 'jose'
import { explainClockSkew } from './explain-rejection.ts'
import { importSigningKey, type SigningKey } from './signing-key.ts'

export interface DpopOptions {
  /**
   * The key pair; processes that share tokens through a store need the same one.
   * @default a new pair for ES256, for this process only
   */
  readonly keyPair?: KeyPairInput | undefined
}

/** How far a server's clock may be behind. */
const skewSeconds = 5

/**
 * Binds tokens to a key (DPoP, RFC 9449): each request proves that its sender holds the key, so that a stolen token is
 * useless to others.
 *
 * @example
 * const tokens = clientCredentials({ tokenEndpoint, clientId, clientSecret, binding: dpop() })
 * const api = createTokenFetch(tokens, { baseUrl: 'https://api.example.com' })
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

  async function prove(
    method: string,
    url: URL,
    accessToken?: string,
    nonce = nonces.get(url.origin),
  ): Promise<{ readonly DPoP: string }> {
    const { privateKey, algorithm, publicJwk } = await load()
    const ath = accessToken === undefined ? undefined : await hashOf(accessToken)
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
  }

  /** Whether a response contains a nonce. */
  function remember({ origin }: URL, headers: ResponseHeaders): boolean {
    const nonce = headerValue(headers, 'dpop-nonce')
    if (nonce) nonces.set(origin, nonce)
    return Boolean(nonce)
  }

  return {
    tokenType: 'DPoP',
    checkShareable() {
      if (keyPair !== undefined) return
      throw configurationError(
        'A shared token store requires a key that all processes have. Pass the same keyPair to dpop() in each of them.',
      )
    },
    fingerprint: async () => `dpop ${(await load()).thumbprint}`,
    async send(url, send) {
      const sendWithProof = async (nonce?: string) => send(await prove('POST', url, undefined, nonce))
      let response = await sendWithProof()
      const lacksNonce = errorOf(response) === 'use_dpop_nonce'
      if (remember(url, response.headers) && lacksNonce) {
        response = await sendWithProof(headerValue(response.headers, 'dpop-nonce'))
        remember(url, response.headers)
      }
      if (errorOf(response) === 'invalid_dpop_proof') throw rejectedProof(url, response)
      return response
    },
    prove: ({ method, url, accessToken, nonce }) => prove(method, url, accessToken, nonce),
    receive: (url, headers) =>
      remember(url, headers) && /\buse_dpop_nonce\b/.test(headerValue(headers, 'www-authenticate') ?? ''),
  }
}

function errorOf({ status, body }: TokenEndpointResponse): unknown {
  try {
    return status >= 400 && (Object(JSON.parse(body)) as { error?: unknown }).error
  } catch {
    return undefined
  }
}

function rejectedProof(url: URL, { status, headers }: TokenEndpointResponse): TokenError {
  const endpoint = url.origin + url.pathname
  const message = `The token endpoint ${endpoint} rejected the DPoP proof (${status} invalid_dpop_proof).`
  const advice = explainClockSkew(headers) ?? "Check the endpoint's URL and the algorithms that it accepts."
  return new TokenError({
    kind: 'configuration',
    message: `${message} ${advice}`,
    status,
    oauthError: 'invalid_dpop_proof',
    tokenEndpoint: endpoint,
  })
}

async function sha256(text: string): Promise<string> {
  return base64url.encode(
    new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))),
  )
}

/** A key pair: two `CryptoKey`s, or a private key as JWK or PEM (PKCS #8). */
export type KeyPairInput = KeyPair | JWK | string

export interface KeyPair {
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

type ProofKey = SigningKey & { readonly publicJwk: JWK }

/** @throws {TokenError} of kind `configuration`, which does not quote the key */
async function importProofKey(input: KeyPairInput | undefined): Promise<ProofKey> {
  const pair = input ?? (await generateKeyPair('ES256'))
  if (typeof pair === 'object' && 'privateKey' in pair) return fromKeyPair(pair)
  const key = await importSigningKey(pair, {})
  return { ...key, publicJwk: key.publicJwk! }
}

async function fromKeyPair({ privateKey, publicKey }: KeyPair): Promise<ProofKey> {
  if (publicKey?.type !== 'public') throw configurationError('keyPair.publicKey must be a public CryptoKey.')
  const publicJwk = await exportJWK(publicKey)
  const thumbprint = await calculateJwkThumbprint(publicJwk)
  return { ...(await importSigningKey(privateKey, { keyId: thumbprint })), thumbprint, publicJwk }
}

/** More origins than a client uses; the least recently used one is removed. */
const maxOrigins = 100

/** The most recent nonce of each server (RFC 9449, sections 8 and 9). */
class Nonces {
  readonly #byOrigin = new Map<string, string>()

  get(origin: string): string | undefined {
    return this.#byOrigin.get(origin)
  }

  set(origin: string, nonce: string): void {
    this.#byOrigin.delete(origin)
    this.#byOrigin.set(origin, nonce)
    if (this.#byOrigin.size > maxOrigins) this.#byOrigin.delete(this.#byOrigin.keys().next().value!)
  }
}
