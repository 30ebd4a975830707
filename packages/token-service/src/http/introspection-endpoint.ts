import type { FastifyInstance } from 'fastify'
import { decodeJwt } from 'jose'
import { requiredCredentials } from '../oauth/presented-credentials.ts'
import type { ServiceContext } from '../oauth/service-context.ts'
import { accessTokenHash } from '../oauth/access-token.ts'
import { isActive, validProducts, validScopes } from '../oauth/token-validity.ts'
import { introspectionPath } from '../oauth/endpoint-paths.ts'
import type { IntrospectionResponse } from '../oauth/oauth-responses.ts'
import { presentedToken } from '../oauth/oauth-parameters.ts'
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
    if (!found || !isActive(found, clock.now())) {
      return reply.send({ active: false } satisfies IntrospectionResponse)
    }
    const { token, application } = found
    const response: IntrospectionResponse = {
      active: true,
      client_id: application.clientId,
      sub: application.clientId,
      token_type: 'Bearer',
      scope: validScopes(found).join(' '),
      iat: Math.floor(token.issuedAtMs / 1000),
      exp: Math.floor(token.expiresAtMs / 1000),
      api_products: validProducts(found),
      ...claimsOf(value),
    }
    return reply.send(response)
  })
}

/** Of a JWT, what opaque tokens do not have; it is one that was issued. */
function claimsOf(
  token: string,
): Pick<Extract<IntrospectionResponse, { active: true }>, 'iss' | 'aud' | 'jti'> {
  if (!token.includes('.')) return {}
  const { iss, aud, jti } = decodeJwt(token)
  return { iss, aud, jti }
}
