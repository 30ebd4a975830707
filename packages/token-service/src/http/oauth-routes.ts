import formbody from '@fastify/formbody'
import type { FastifyInstance } from 'fastify'
import { parse } from 'node:querystring'
import { type RequestAddress, baseUrl } from './base-url.ts'
import type { Caller } from '../oauth/authenticate-client.ts'
import { tokenPath } from '../oauth/endpoint-paths.ts'
import type { RawParameters } from '../oauth/parameters.ts'
import { ProtocolError } from '../oauth/protocol-error.ts'

export interface FormRequest {
  Querystring: RawParameters
  Body: RawParameters
}

const neverInQuery = ['client_id', 'client_secret', 'token', 'access_token']

/** What the OAuth endpoints share: form bodies, no secrets in the query, responses that are not cached. */
export async function acceptForms(server: FastifyInstance): Promise<void> {
  server.removeAllContentTypeParsers()
  await server.register(formbody, { parser: parseForm })
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
export function allowPostOnly(server: FastifyInstance, url: string): void {
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

/** Parameters without a value are treated as omitted (RFC 6749, section 3.2). */
function parseForm(text: string): RawParameters {
  const form = parse(text)
  for (const name in form) if (form[name] === '') delete form[name]
  return form
}

/** Who sent a request. An assertion is for this service if it names the issuer, the token endpoint or this endpoint. */
export function callerOf(
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
