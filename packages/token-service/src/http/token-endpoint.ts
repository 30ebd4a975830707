import type { FastifyInstance } from 'fastify'
import type { ServiceContext } from '../service-context.ts'
import { presentedCredentials } from '../authentication/presented-credentials.ts'
import { accessTokenHash, createAccessToken } from '../tokens/access-token.ts'
import { repeatedGrant, tokenQuery } from './oauth-parameters.ts'
import { allowPostOnly, type FormRequest } from './oauth-routes.ts'
import { parseParameters } from './parameters.ts'
import { ProtocolError } from './protocol-error.ts'
import { noteOutcome } from './request-outcome.ts'
import { tokenResponse } from './token-response.ts'

export const tokenPath = '/oauth/client_credential/accesstoken'

/** Issues access tokens for the client-credentials grant (RFC 6749 section 4.4). */
export function tokenEndpoint(server: FastifyInstance, context: ServiceContext): void {
  const { authenticateApplication, storage, activity, clock } = context

  allowPostOnly(server, tokenPath)
  server.post<FormRequest>(tokenPath, async (request, reply) => {
    parseParameters(tokenQuery, request.query)
    parseParameters(repeatedGrant, request.body)
    const credentials = presentedCredentials(request.headers.authorization, request.body)
    const client = await authenticateApplication(credentials, request.ip)
    const { id: applicationId, clientId, status, lifetimeSeconds } = client.application
    if (status !== 'approved') throw new ProtocolError('application_not_approved', { clientId })

    const value = createAccessToken()
    const issuedAtMs = clock.now()
    const expiresAtMs = issuedAtMs + lifetimeSeconds * 1000
    await storage.tokens.save({ hash: accessTokenHash(value), applicationId, issuedAtMs, expiresAtMs })
    activity.tokenIssued(applicationId, client.secret.id)
    noteOutcome(request, { clientId })
    return reply.send(tokenResponse({ value, issuedAtMs, lifetimeSeconds }, client))
  })
}
