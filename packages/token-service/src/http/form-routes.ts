import { parse } from 'node:querystring'
import type { FastifyInstance } from 'fastify'
import { ProtocolError } from './protocol-error.ts'

/** What the OAuth endpoints have in common: form bodies in, answers that nobody may keep. */
export function acceptForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, parse(String(body))),
  )
  server.addHook('onRequest', (_request, reply, done) => {
    void reply.header('cache-control', 'no-store').header('pragma', 'no-cache')
    done()
  })
  // A request with neither a body nor a content type is parsed by nobody.
  server.addHook('preValidation', (request, _reply, done) => {
    done(request.body === undefined ? new ProtocolError('unsupported_content_type') : undefined)
  })
}
