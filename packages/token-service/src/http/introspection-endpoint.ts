import type { FastifyInstance } from 'fastify'
import { accessTokenHash } from '../access-token.ts'
import { presentedCredentials, type PresentedCredentials } from '../authentication/presented-credentials.ts'
import type { Clock } from '../clock.ts'
import type { TokenStorage } from '../storage/storage.ts'
import { requiredParameter, type ParsedParameters } from './request-parameters.ts'

export const introspectionPath = '/oauth/introspect'

export interface IntrospectionContext {
  readonly authenticate: (credentials: PresentedCredentials) => void
  readonly tokens: TokenStorage
  readonly clock: Clock
}

/** Tells resource servers whether a token is good, and for what (RFC 7662). */
export function introspectionEndpoint(server: FastifyInstance, context: IntrospectionContext): void {
  const { authenticate, tokens, clock } = context

  server.post<{ Body: ParsedParameters }>(introspectionPath, async (request, reply) => {
    const form = request.body
    authenticate(presentedCredentials(request.headers.authorization, form))
    const found = await tokens.find(accessTokenHash(requiredParameter(form, 'token')))
    if (!found || found.token.expiresAtMs <= clock.now() || found.application.status !== 'approved') {
      return reply.send({ active: false })
    }
    const { token, application } = found
    return reply.send({
      active: true,
      client_id: application.clientId,
      token_type: 'Bearer',
      scope: '',
      iat: Math.floor(token.issuedAtMs / 1000),
      exp: Math.floor(token.expiresAtMs / 1000),
      sub: application.clientId,
      api_products: application.products,
    })
  })
}
