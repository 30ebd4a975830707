import { decodeJwt } from 'jose'
import { activeAccess } from './current-access.ts'
import type { FoundToken } from './token-storage.ts'
import type { IntrospectionResponse } from './oauth-responses.ts'

type Description = Extract<IntrospectionResponse, { active: true }>

/** What introspection reports of a token (RFC 7662, section 2.2), if there is one. */
export function describeToken(
  value: string,
  found: FoundToken | undefined,
  nowMs: number,
): IntrospectionResponse {
  const access = found && activeAccess(found, nowMs)
  if (!access) return { active: false }
  const { token, application } = found
  const { keyThumbprint: jkt } = token
  const { audiences } = access
  return {
    active: true,
    client_id: application.clientId,
    sub: application.clientId,
    token_type: jkt === undefined ? 'Bearer' : 'DPoP',
    scope: access.scopes.join(' '),
    iat: Math.floor(token.issuedAtMs / 1000),
    // Rounded up: nobody rejects a token before its `expires_in` is over.
    exp: Math.ceil(token.expiresAtMs / 1000),
    api_products: [...access.products],
    ...claimsOf(value),
    ...(audiences.length > 0 && { aud: audiences.length === 1 ? audiences[0] : [...audiences] }),
    ...(jkt !== undefined && { cnf: { jkt } }),
  }
}

/** Of a JWT, what it states itself; it is one that was issued. */
function claimsOf(value: string): Partial<Pick<Description, 'iss' | 'jti' | 'exp'>> {
  if (!value.includes('.')) return {}
  const { iss, jti, exp } = decodeJwt<{ exp: number }>(value)
  return { iss, jti, exp }
}
