import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, calculateJwkThumbprint } from 'jose'
import { startScriptedServer, json, type ScriptedServer } from '@tokenwell/internal-testing'

interface SigningKey {
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
}

/** An issuer whose tokens and keys a test chooses. */
export interface JwtIssuer {
  readonly issuer: string
  readonly server: ScriptedServer
  readonly keys: SigningKey[]
  /** Signs with the newest key, unless told otherwise. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>, key?: SigningKey): Promise<string>
  /** Adds a key and returns it. */
  addKey(algorithm?: string): Promise<SigningKey>
  close(): Promise<void>
}

export const audience = 'https://orders.example.com'

export async function createSigningKey(
  algorithm = 'ES256',
  kid: string = crypto.randomUUID(),
): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return { privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg: algorithm } }
}

export async function startJwtIssuer(): Promise<JwtIssuer> {
  const keys = [await createSigningKey()]
  const server = await startScriptedServer(({ url }) => {
    if (url === '/jwks') return json({ keys: keys.map(({ publicJwk }) => publicJwk) })
    if (url === '/.well-known/openid-configuration') {
      return json({ issuer: server.origin, jwks_uri: `${server.origin}/jwks` })
    }
    return json({}, 404)
  })
  return {
    issuer: server.origin,
    server,
    keys,
    async addKey(algorithm) {
      const key = await createSigningKey(algorithm)
      keys.push(key)
      return key
    },
    sign(claims = {}, header = {}, { privateKey, publicJwk } = keys.at(-1)!) {
      const now = Math.floor(Date.now() / 1000)
      const all = {
        iss: server.origin,
        aud: audience,
        sub: 'client',
        client_id: 'client',
        scope: 'orders:read',
        api_products: ['orders'],
        iat: now,
        exp: now + 600,
        jti: crypto.randomUUID(),
        ...claims,
      }
      return new SignJWT(all)
        .setProtectedHeader({ alg: publicJwk.alg!, kid: publicJwk.kid!, typ: 'at+jwt', ...header })
        .sign(privateKey)
    },
    close: () => server.close(),
  }
}

export interface DpopKey {
  readonly thumbprint: string
  readonly publicJwk: JWK
  readonly privateKey: CryptoKey
  /** A proof for a request, or for a token request if there is no token yet. */
  readonly prove: (
    request: { readonly method: string; readonly url: string; readonly token?: string },
    claims?: Record<string, unknown>,
    header?: Record<string, unknown>,
  ) => Promise<string>
}

export async function createDpopKey(): Promise<DpopKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const publicJwk = await exportJWK(publicKey)
  return {
    thumbprint: await calculateJwkThumbprint(publicJwk),
    publicJwk,
    privateKey,
    prove({ method, url, token }, claims = {}, header = {}) {
      const ath = token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }
      return new SignJWT({
        jti: crypto.randomUUID(),
        htm: method,
        htu: url,
        iat: Math.floor(Date.now() / 1000),
        ...ath,
        ...claims,
      })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: publicJwk, ...header })
        .sign(privateKey)
    },
  }
}
