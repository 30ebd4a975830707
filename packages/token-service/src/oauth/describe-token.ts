import { decodeJwt } from 'jose'
import type { IntrospectionResponse } from './oauth-responses.ts'
import { type FoundToken, type StoredToken, validProducts, validScopes } from './token-storage.ts'

type Description = Extract<IntrospectionResponse, { active: true }>

/** What introspection reports of an active token (RFC 7662, section 2.2). */
export function describeToken(value: string, found: FoundToken): Description {
  const { token, application } = found
  const { keyThumbprint: jkt } = token
  return {
    active: true,
    client_id: application.clientId,
    sub: application.clientId,
    token_type: jkt === undefined ? 'Bearer' : 'DPoP',
    scope: validScopes(found).join(' '),
    iat: Math.floor(token.issuedAtMs / 1000),
    // Rounded up: nobody rejects a token before its `expires_in` is over.
    exp: Math.ceil(token.expiresAtMs / 1000),
    api_products: validProducts(found),
    ...claimsOf(value, token),
    ...(jkt !== undefined && { cnf: { jkt } }),
  }
}

/** Of a JWT, what it states itself; it is one that was issued. */
function claimsOf(
  value: string,
  { audiences }: Pick<StoredToken, 'audiences'>,
): Partial<Pick<Description, 'iss' | 'aud' | 'jti' | 'exp'>> {
  if (!value.includes('.')) {
    if (audiences.length === 0) return {}
    return { aud: audiences.length === 1 ? audiences[0] : [...audiences] }
  }
  const { iss, aud, jti, exp } = decodeJwt<{ exp: number }>(value)
  return { iss, aud, jti, exp }
}
