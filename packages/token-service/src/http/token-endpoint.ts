import type { FastifyInstance } from 'fastify'
import { tokenPath } from '../oauth/endpoint-paths.ts'
import type { IssueToken } from '../oauth/issue-token.ts'
import { callerOf } from './caller.ts'
import { allowPostOnly, type FormRequest } from './oauth-routes.ts'
import { setOutcome } from './request-outcome.ts'

/** The token endpoint (RFC 6749, section 3.2). */
export function tokenEndpoint(
  server: FastifyInstance,
  issueToken: IssueToken,
  publicUrl: string | undefined,
): void {
  allowPostOnly(server, tokenPath)
  server.post<FormRequest>(tokenPath, async (request, reply) => {
    const { clientId, response } = await issueToken({
      query: request.query,
      form: request.body,
      authorization: request.headers.authorization,
      caller: callerOf(request, tokenPath, publicUrl),
    })
    setOutcome(request, { clientId })
    return reply.send(response)
  })
}
