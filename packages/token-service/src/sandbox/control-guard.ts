import type { FastifyInstance } from 'fastify'
import type { AddressInfo } from 'node:net'

/** Keeps web pages out: they reach loopback addresses too, but with an `Origin`, another `Host`, or a form's content type. */
export function guardControl(server: FastifyInstance): void {
  server.removeContentTypeParser('text/plain')
  server.addHook('onRequest', (request, reply, done) => {
    const address = server.server.address() as AddressInfo | null
    const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `${host}:${address?.port}`)
    if (request.headers.origin !== undefined) {
      return void reply.code(403).send({ error: 'Requests of web pages are refused.' })
    }
    if (!hosts.includes(request.headers.host ?? '')) {
      return void reply.code(403).send({ error: `Ask for one of these hosts: ${hosts.join(', ')}.` })
    }
    if (request.method === 'POST' && !/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
      return void reply.code(415).send({ error: 'Send JSON, with the content type application/json.' })
    }
    done()
  })
}
