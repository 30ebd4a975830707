import type { FastifyInstance } from 'fastify'
import { requiredCredentials } from '../oauth/presented-credentials.ts'
import type { ServiceContext } from '../service/context.ts'
import { describeToken } from '../oauth/describe-token.ts'
import { accessTokenHash, isActive } from '../oauth/token-storage.ts'
import { introspectionPath } from '../oauth/endpoint-paths.ts'
import type { IntrospectionResponse } from '../oauth/oauth-responses.ts'
import { presentedToken } from '../oauth/oauth-parameters.ts'
import { callerOf, allowPostOnly, type FormRequest } from './oauth-routes.ts'
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
    const response = describeToken(value, found)
    const { aud = [] } = response
    const isForClient =
      client.audiences === undefined || [aud].flat().some((each) => client.audiences?.includes(each))
    if (!isForClient) return reply.send(inactive)
    return reply.send(response)
  })
}
