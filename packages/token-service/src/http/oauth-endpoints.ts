import formbody from '@fastify/formbody'
import { parse } from 'node:querystring'
import { baseUrl, type RequestAddress } from '../oauth/base-url.ts'
import type { Caller } from '../oauth/authenticate-client.ts'
import { introspectionPath, revocationPath, tokenPath } from '../oauth/endpoint-paths.ts'
import {
  parseParameters,
  presentedToken,
  withoutEmptyParameters,
  type RawParameters,
} from '../oauth/parameters.ts'
import { ProtocolError } from '../oauth/protocol-error.ts'
import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { IssueToken } from '../oauth/issue-token.ts'
import type { AlterJwt } from '../oauth/jwt-access-token.ts'
import { setOutcome } from './request-outcome.ts'
import { requiredCredentials } from '../oauth/presented-credentials.ts'
import type { ServiceContext } from '../features/context.ts'
import { describeToken } from '../oauth/describe-token.ts'
import { accessTokenHash } from '../oauth/token-storage.ts'
import type { IntrospectionResponse } from '../oauth/oauth-responses.ts'

export interface FormRequest {
  Querystring: RawParameters
  Body: RawParameters
}

const neverInQuery = ['client_id', 'client_secret', 'token', 'access_token']

/** What the OAuth endpoints share: form bodies, no secrets in the query, responses that are not cached. */
export async function acceptForms(server: FastifyInstance): Promise<void> {
  server.removeAllContentTypeParsers()
  await server.register(formbody, {
    parser: (text: string) => withoutEmptyParameters(parse(text)),
  })
  server.addHook('onRequest', (_request, reply, done) => {
    void reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    done()
  })
  server.addHook<FormRequest>('preValidation', (request, _reply, done) => {
    if (neverInQuery.some((name) => name in request.query)) {
      return done(new ProtocolError('credentials_in_query'))
    }
    // With Basic credentials a request needs no body: `curl -u id:secret -X POST`.
    request.body ??= {}
    done()
  })
}

/** Responds to every other method with 405. */
function allowPostOnly(server: FastifyInstance, url: string): void {
  const others = server.supportedMethods.filter((method) => method !== 'POST')
  server.route({
    method: others,
    url,
    onRequest: (_request, _reply, done) => done(new ProtocolError('method_not_allowed', { allow: 'POST' })),
    handler: () => undefined,
  })
}

/** A token of 16 KiB, which is the most that Node accepts in a header, and the credentials of its sender. */
export const maxBodyBytes = 32 * 1024

/** Who sent a request. An assertion is for this service if it names the issuer, the token endpoint or this endpoint. */
function callerOf(
  request: RequestAddress & { readonly ip: string },
  path: string,
  publicUrl: string | undefined,
): Caller {
  return {
    address: request.ip,
    audiences() {
      const issuer = baseUrl(request, publicUrl)
      const tokenEndpoint = `${issuer}${tokenPath}`
      return [issuer, tokenEndpoint, `${tokenEndpoint}?grant_type=client_credentials`, `${issuer}${path}`]
    },
  }
}

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
    const response = describeToken(value, found, clock.now())
    const aud = response.active ? (response.aud ?? []) : []
    const isForClient =
      client.audiences === undefined || [aud].flat().some((each) => client.audiences?.includes(each))
    return reply.send(isForClient ? response : ({ active: false } satisfies IntrospectionResponse))
  })
}

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
