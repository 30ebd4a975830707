import type { FastifyInstance } from 'fastify'

/**
 * Rejects requests from web pages, which can reach loopback addresses too, by their `Origin`, `Host` and content type.
 */
export function guardControl(server: FastifyInstance): void {
  server.removeContentTypeParser('text/plain')
  server.addHook('onRequest', (request, reply, done) => {
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${request.socket.localPort}`)
    if (request.headers.origin !== undefined) {
      return void reply.code(403).send({ error: 'Requests from web pages are not allowed.' })
    }
    if (!hosts.includes(request.headers.host ?? '')) {
      return void reply.code(403).send({ error: `The Host header must be one of ${hosts.join(', ')}.` })
    }
    if (request.method === 'POST' && !/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return void reply.code(415).send({ error: 'The content type must be application/json.' })
    }
    done()
  })
}
