import type { FastifyInstance } from 'fastify'
import { requiredCredentials } from '../oauth/presented-credentials.ts'
import type { ServiceContext } from '../service/context.ts'
import { accessTokenHash } from '../oauth/token-storage.ts'
import { revocationPath } from '../oauth/endpoint-paths.ts'
import { presentedToken } from '../oauth/oauth-parameters.ts'
import { callerOf, allowPostOnly, type FormRequest } from './oauth-routes.ts'
import { parseParameters } from '../oauth/parameters.ts'
import { ProtocolError } from '../oauth/protocol-error.ts'
import { setOutcome } from './request-outcome.ts'

/** Revokes a token for the client that it was issued to (RFC 7009). */
export function revocationEndpoint(server: FastifyInstance, context: ServiceContext): void {
  const { authenticateApplication, storage, activity, publicUrl } = context

  allowPostOnly(server, revocationPath)
  server.post<FormRequest>(revocationPath, async (request, reply) => {
    const credentials = requiredCredentials(request.headers.authorization, request.body)
    const { client, credential } = await authenticateApplication(
      credentials,
      callerOf(request, revocationPath, publicUrl),
    )
    const { application } = client
    const { clientId } = application
    setOutcome(request, { clientId })
    activity.used([application.id, credential.id])
    const { token } = parseParameters(presentedToken, request.body)
    const hash = accessTokenHash(token)
    const found = await storage.tokens.find(hash)
    if (found) {
      if (found.application.id !== application.id)
        throw new ProtocolError('token_of_another_client', { clientId })
      await storage.tokens.remove(hash)
      activity.count({ event: 'token_revoked', clientId, address: request.ip })
    }
    return reply.code(200).send()
  })
}
