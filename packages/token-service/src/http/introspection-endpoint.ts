import type { FastifyInstance } from 'fastify'
import { presentedCredentials } from '../authentication/presented-credentials.ts'
import type { ServiceContext } from '../service-context.ts'
import { accessTokenHash } from '../tokens/access-token.ts'
import type { IntrospectionAnswer } from './oauth-answers.ts'
import { presentedToken } from './oauth-parameters.ts'
import { allowPostOnly, type FormRequest } from './oauth-routes.ts'
import { parseParameters } from './parameters.ts'
import { noteOutcome } from './request-outcome.ts'

export const introspectionPath = '/oauth/introspect'

/** Tells resource servers whether a token is good, and for what (RFC 7662). */
export function introspectionEndpoint(server: FastifyInstance, context: ServiceContext): void {
  const { authenticateResourceServer, storage, clock } = context

  allowPostOnly(server, introspectionPath)
  server.post<FormRequest>(introspectionPath, async (request, reply) => {
    const credentials = presentedCredentials(request.headers.authorization, request.body)
    await authenticateResourceServer(credentials, request.ip)
    noteOutcome(request, { clientId: credentials.clientId })
    const { token: value } = parseParameters(presentedToken, request.body)
    const found = await storage.tokens.find(accessTokenHash(value))
    if (!found || found.token.expiresAtMs <= clock.now() || found.application.status !== 'approved') {
      return reply.send({ active: false } satisfies IntrospectionAnswer)
    }
    const { token, application } = found
    const answer: IntrospectionAnswer = {
      active: true,
      client_id: application.clientId,
      sub: application.clientId,
      token_type: 'Bearer',
      scope: '',
      iat: Math.floor(token.issuedAtMs / 1000),
      exp: Math.floor(token.expiresAtMs / 1000),
      api_products: application.products,
    }
    return reply.send(answer)
  })
}
