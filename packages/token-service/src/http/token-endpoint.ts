import type { FastifyInstance } from 'fastify'
import { accessTokenHash, createAccessToken } from '../access-token.ts'
import type { AuthenticateApplication } from '../authentication/authenticate-application.ts'
import { presentedCredentials } from '../authentication/presented-credentials.ts'
import type { Clock } from '../clock.ts'
import type { TokenStorage } from '../storage/storage.ts'
import { ProtocolError } from './protocol-error.ts'
import { parameter, requiredParameter, type ParsedParameters } from './request-parameters.ts'
import { tokenResponse } from './token-response.ts'

export const tokenPath = '/oauth/client_credential/accesstoken'

export interface TokenEndpointContext {
  readonly authenticate: AuthenticateApplication
  readonly tokens: TokenStorage
  readonly clock: Clock
}

interface TokenRequest {
  Querystring: ParsedParameters
  Body: ParsedParameters
}

/** Issues access tokens for the client-credentials grant (RFC 6749 section 4.4). */
export function tokenEndpoint(server: FastifyInstance, context: TokenEndpointContext): void {
  const { authenticate, tokens, clock } = context

  server.post<TokenRequest>(tokenPath, async (request, reply) => {
    const form = request.body
    checkGrantType(request.query, form)
    const client = await authenticate(presentedCredentials(request.headers.authorization, form))
    if (client.application.status !== 'approved') throw new ProtocolError('application_not_approved')

    const { id: applicationId, lifetimeSeconds } = client.application
    const value = createAccessToken()
    const issuedAtMs = clock.now()
    const expiresAtMs = issuedAtMs + lifetimeSeconds * 1000
    await tokens.save({ hash: accessTokenHash(value), applicationId, issuedAtMs, expiresAtMs })
    return reply.send(tokenResponse({ value, issuedAtMs, lifetimeSeconds }, client))
  })
}

function checkGrantType(query: ParsedParameters, form: ParsedParameters): void {
  if ('client_id' in query || 'client_secret' in query) throw new ProtocolError('credentials_in_query')
  const grantType = requiredParameter(query, 'grant_type')
  if ((parameter(form, 'grant_type') ?? grantType) !== grantType) {
    throw new ProtocolError('contradicting_parameter', { parameter: 'grant_type' })
  }
  if (grantType !== 'client_credentials') throw new ProtocolError('unsupported_grant_type')
}
