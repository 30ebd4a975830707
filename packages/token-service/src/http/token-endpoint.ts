import type { FastifyInstance } from 'fastify'
import { isBeingDeleted } from '../applications/application.ts'
import type { ServiceContext } from '../service/service-context.ts'
import { presentedCredentials } from '../authentication/presented-credentials.ts'
import { accessTokenHash, createAccessToken } from '../tokens/access-token.ts'
import { tokenPath } from '../protocol/endpoint-paths.ts'
import { repeatedGrant, tokenQuery } from '../protocol/oauth-parameters.ts'
import { callerOf } from './caller.ts'
import { allowPostOnly, type FormRequest } from './oauth-routes.ts'
import { parseParameters } from '../protocol/parameters.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import { setOutcome } from './request-outcome.ts'
import { createTokenResponse } from '../protocol/token-response.ts'

/** Issues access tokens for the client-credentials grant (RFC 6749 section 4.4). */
export function tokenEndpoint(server: FastifyInstance, context: ServiceContext): void {
  const { authenticateApplication, storage, activity, clock, publicUrl } = context

  allowPostOnly(server, tokenPath)
  server.post<FormRequest>(tokenPath, async (request, reply) => {
    if (request.query['grant_type'] === undefined && request.body['grant_type'] !== undefined) {
      throw new ProtocolError('grant_type_not_in_query')
    }
    parseParameters(tokenQuery, request.query)
    parseParameters(repeatedGrant, request.body)
    const credentials = presentedCredentials(request.headers.authorization, request.body)
    const { client, credential } = await authenticateApplication(credentials, callerOf(request, publicUrl))
    const { application } = client
    const { id: applicationId, clientId, status, products, tokenGeneration: generation } = application
    if (status !== 'approved' || isBeingDeleted(client))
      throw new ProtocolError('application_not_approved', { clientId })

    const value = createAccessToken()
    const issuedAtMs = clock.now()
    // A token expires with its secret or key.
    const { expiresAtMs: credentialExpiresAtMs = Infinity } = credential
    const lifetimeSeconds = Math.min(
      application.lifetimeSeconds,
      Math.ceil((credentialExpiresAtMs - issuedAtMs) / 1000),
    )
    const expiresAtMs = issuedAtMs + lifetimeSeconds * 1000
    const token = { applicationId, secretId: credential.id, generation, products, issuedAtMs, expiresAtMs }
    await storage.tokens.save({ hash: accessTokenHash(value), ...token })
    activity.tokenRequested({ clientId, outcome: 'issued', address: request.ip, secretId: credential.id })
    setOutcome(request, { clientId })
    return reply.send(createTokenResponse({ value, issuedAtMs, lifetimeSeconds }, client))
  })
}
