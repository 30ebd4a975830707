import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { tokenPath } from '../oauth/endpoint-paths.ts'
import type { IssueToken } from '../oauth/issue-token.ts'
import type { AlterJwt } from '../oauth/jwt-access-token.ts'
import { baseUrl } from './base-url.ts'
import { callerOf, allowPostOnly, type FormRequest } from './oauth-routes.ts'
import { setOutcome } from './request-outcome.ts'

/** The token endpoint (RFC 6749, section 3.2). */
export function tokenEndpoint(
  server: FastifyInstance,
  issueToken: IssueToken,
  publicUrl: string | undefined,
  /** For tests. */
  alterationOf?: (request: FastifyRequest) => AlterJwt | undefined,
): void {
  allowPostOnly(server, tokenPath)
  server.post<FormRequest>(tokenPath, async (request, reply) => {
    const { clientId, response } = await issueToken({
      query: request.query,
      form: request.body,
      authorization: request.headers.authorization,
      dpop: proofIn(request.headers),
      caller: callerOf(request, tokenPath, publicUrl),
      url: () => `${baseUrl(request, publicUrl)}${tokenPath}`,
      issuer: () => baseUrl(request, publicUrl),
      alterJwt: alterationOf?.(request),
    })
    setOutcome(request, { clientId })
    return reply.send(response)
  })
}

/** Several headers arrive as one, which is not a valid proof (RFC 9449, section 4.3). */
function proofIn({ dpop }: IncomingHttpHeaders): string | undefined {
  return dpop?.toString()
}
