import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose'
import { postForm, tokenPath, type JsonResponse } from '../test-service.ts'

export const algorithm = 'ES256'
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
export const keyClientId = 'key-client'
export const pair = await generateKeyPair(algorithm, { extractable: true })

export interface Assertion {
  readonly claims?: JWTPayload
  readonly header?: { alg?: string; kid?: string }
  readonly key?: CryptoKey | Uint8Array
}

export async function jwksOf(...keys: CryptoKey[]) {
  return { keys: await Promise.all(keys.map((key) => exportJWK(key))) }
}

/** An assertion that `keyClientId` signs, valid for a minute, with these changes. */
export function assertionFor(
  audience: string | string[],
  { claims, header, key = pair.privateKey }: Assertion = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const its = { iss: keyClientId, sub: keyClientId, aud: audience, iat: now, exp: now + 60 }
  return new SignJWT({ ...its, jti: crypto.randomUUID(), ...claims })
    .setProtectedHeader({ alg: algorithm, ...header })
    .sign(key)
}

/** Requests a token with an assertion. */
export function present(
  authUrl: string,
  assertion: string,
  more: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<JsonResponse> {
  const form = { client_assertion_type: assertionType, client_assertion: assertion, ...more }
  return postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, form, headers)
}
