import { parse } from 'node:querystring'
import type { FastifyInstance } from 'fastify'
import type { RawParameters } from './parameters.ts'
import { ProtocolError } from './protocol-error.ts'

export interface FormRequest {
  Querystring: RawParameters
  Body: RawParameters
}

const neverInQuery = ['client_id', 'client_secret', 'token', 'access_token']

/** What the OAuth endpoints have in common: forms in, nothing secret in the address, answers that nobody may keep. */
export function acceptForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, parseForm(String(body))),
  )
  server.addHook('onRequest', (_request, reply, done) => {
    void reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    done()
  })
  server.addHook<FormRequest>('preValidation', (request, _reply, done) => {
    if (neverInQuery.some((name) => name in request.query)) {
      return done(new ProtocolError('credentials_in_query'))
    }
    // A request with neither a body nor a content type is parsed by nobody.
    if ((request.body as unknown) === undefined) return done(new ProtocolError('unsupported_content_type'))
    done()
  })
}

/** Answers every other method on the path with 405. */
export function allowPostOnly(server: FastifyInstance, url: string): void {
  const others = server.supportedMethods.filter((method) => method !== 'POST')
  server.route({
    method: others,
    url,
    onRequest: (_request, _reply, done) => done(new ProtocolError('method_not_allowed', { allow: 'POST' })),
    handler: () => undefined,
  })
}

/** Parameters without a value count as left out (RFC 6749 section 3.2). */
function parseForm(text: string): RawParameters {
  const form = parse(text)
  for (const name in form) if (form[name] === '') delete form[name]
  return form
}
