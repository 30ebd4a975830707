import type { FastifyInstance } from 'fastify'
import { accessTokenHash } from '../access-token.ts'
import type { AuthenticateApplication } from '../authentication/authenticate-application.ts'
import { presentedCredentials } from '../authentication/presented-credentials.ts'
import type { TokenStorage } from '../storage/storage.ts'
import { ProtocolError } from './protocol-error.ts'
import { requiredParameter, type ParsedParameters } from './request-parameters.ts'

export const revocationPath = '/oauth/revoke'

export interface RevocationContext {
  readonly authenticate: AuthenticateApplication
  readonly tokens: TokenStorage
}

/** Ends a token before its time, for the client it was issued to (RFC 7009). */
export function revocationEndpoint(
  server: FastifyInstance,
  { authenticate, tokens }: RevocationContext,
): void {
  server.post<{ Body: ParsedParameters }>(revocationPath, async (request, reply) => {
    const form = request.body
    const client = await authenticate(presentedCredentials(request.headers.authorization, form))
    const hash = accessTokenHash(requiredParameter(form, 'token'))
    const found = await tokens.find(hash)
    if (found && found.application.id !== client.application.id) {
      throw new ProtocolError('token_of_another_client')
    }
    await tokens.remove(hash)
    return reply.code(200).send()
  })
}
