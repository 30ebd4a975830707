import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Deals with bodies that are not read to their end. A client that asks first (`Expect: 100-continue`) is told to go
 * on only when the body is wanted; one that does not ask is let finish, so that it gets to read the answer.
 */
export function handleUnreadBodies(server: FastifyInstance): void {
  server.server.on('checkContinue', (request, response) => server.server.emit('request', request, response))
  server.addHook('onSend', async (request, reply) => {
    // Whether the body still comes is the client's choice now, so the connection cannot be used again.
    if (expectsContinue(request) && !request.raw.readableDidRead) reply.header('connection', 'close')
  })
  server.addHook('onResponse', async ({ raw }) => {
    if (raw.readableEnded) return
    raw.unpipe()
    raw.resume()
    // A server that closes meanwhile has passed this connection over, which was still at work.
    raw.once('end', () => server.server.listening || raw.socket.end())
  })
}

/** Says that the body is wanted. */
export function welcomeBody(request: FastifyRequest, response: { writeContinue(): void }): void {
  if (expectsContinue(request)) response.writeContinue()
}

function expectsContinue(request: FastifyRequest): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue'
}
