import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { TokenRequirements, TokenVerifier } from '@tokenwell/resource-server'

type Claims = Readonly<Record<string, unknown>>

interface Shape {
  readonly header: Claims
  readonly claims: Claims & { readonly iss: string }
  readonly clientId?: string
  readonly met: TokenRequirements
  readonly missed: TokenRequirements
  readonly otherApi: Claims
  readonly otherClient?: Claims
  readonly idTokens?: readonly Claims[]
}

/** Tokens as issuers document them. */
const file = '../packages/resource-server/test/issuers/shapes.json'

/**
 * Verifies a recipe of the documentation against tokens as its issuer documents them; `fetch` responds with the issuer's
 * metadata and keys.
 */
export async function checkRecipe(name: string, verifier: TokenVerifier): Promise<void> {
  const shape = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Shape>)[name]
  assert(shape !== undefined, `There is no shape "${name}".`)
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256' }]
  globalThis.fetch = async (input) => {
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input)
    const isMetadata = /\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/.test(pathname)
    return Response.json(isMetadata ? { issuer: shape.claims.iss, jwks_uri: `${origin}/keys` } : { keys })
  }
  const now = Math.floor(Date.now() / 1000)
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const verify = async (changed: Claims = {}, requirements: TokenRequirements = {}) => {
    const all = { iat: now, nbf: now, exp: now + 3600, ...shape.claims, ...changed }
    const claims = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
    const input = `${encode(shape.header)}.${encode(claims)}`
    const token = `${input}.${createSign('sha256').update(input).sign(privateKey, 'base64url')}`
    return verifier.verify(`Bearer ${token}`, requirements)
  }
  assert.equal((await verify()).clientId, shape.clientId)
  await verify({}, shape.met)
  await assert.rejects(verify({}, shape.missed), { status: 403 })
  const { otherApi, otherClient, idTokens = [] } = shape
  for (const changed of [otherApi, otherClient ?? otherApi, ...idTokens, { exp: now - 60 }]) {
    await assert.rejects(verify(changed), ({ status, reason }) => status === 401 && reason !== undefined)
  }
}
