import type { FastifyInstance } from 'fastify'
import { decodeJwt } from 'jose'
import { requiredCredentials } from '../oauth/presented-credentials.ts'
import type { ServiceContext } from '../service/context.ts'
import { accessTokenHash } from '../oauth/access-token.ts'
import { isActive, validProducts, validScopes } from '../oauth/token-validity.ts'
import { introspectionPath } from '../oauth/endpoint-paths.ts'
import type { IntrospectionResponse } from '../oauth/oauth-responses.ts'
import { presentedToken } from '../oauth/oauth-parameters.ts'
import type { StoredToken } from '../oauth/token-storage.ts'
import { callerOf } from './caller.ts'
import { allowPostOnly, type FormRequest } from './oauth-routes.ts'
import { parseParameters } from '../oauth/parameters.ts'
import { setOutcome } from './request-outcome.ts'

/** Reports to resource servers whether a token is active, and for which products and scopes (RFC 7662). */
export function introspectionEndpoint(server: FastifyInstance, context: ServiceContext): void {
  const { authenticateResourceServer, storage, activity, clock, publicUrl } = context

  allowPostOnly(server, introspectionPath)
  server.post<FormRequest>(introspectionPath, async (request, reply) => {
    const credentials = requiredCredentials(request.headers.authorization, request.body)
    const { client, credential } = await authenticateResourceServer(
      credentials,
      callerOf(request, introspectionPath, publicUrl),
    )
    const { clientId } = client
    setOutcome(request, { clientId })
    activity.used([client.id, credential.id])
    const { token: value } = parseParameters(presentedToken, request.body)
    const found = await storage.tokens.find(accessTokenHash(value))
    const inactive = { active: false } satisfies IntrospectionResponse
    if (!found || !isActive(found, clock.now())) return reply.send(inactive)
    const { token, application } = found
    const claims = claimsOf(value, token)
    const { aud = [] } = claims
    const isForClient =
      client.audiences === undefined || [aud].flat().some((each) => client.audiences?.includes(each))
    if (!isForClient) return reply.send(inactive)
    const { keyThumbprint: jkt } = token
    const response: IntrospectionResponse = {
      active: true,
      client_id: application.clientId,
      sub: application.clientId,
      token_type: jkt === undefined ? 'Bearer' : 'DPoP',
      scope: validScopes(found).join(' '),
      iat: Math.floor(token.issuedAtMs / 1000),
      // Rounded up: nobody rejects a token before its `expires_in` is over.
      exp: Math.ceil(token.expiresAtMs / 1000),
      api_products: validProducts(found),
      ...claims,
      ...(jkt !== undefined && { cnf: { jkt } }),
    }
    return reply.send(response)
  })
}

/** Of a JWT, what it states itself; it is one that was issued. */
function claimsOf(
  value: string,
  { audiences }: Pick<StoredToken, 'audiences'>,
): Partial<Pick<Extract<IntrospectionResponse, { active: true }>, 'iss' | 'aud' | 'jti' | 'exp'>> {
  if (!value.includes('.')) {
    if (audiences.length === 0) return {}
    return { aud: audiences.length === 1 ? audiences[0] : [...audiences] }
  }
  const { iss, aud, jti, exp } = decodeJwt<{ exp: number }>(value)
  return { iss, aud, jti, exp }
}
