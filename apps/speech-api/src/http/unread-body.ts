import type { FastifyInstance, FastifyRequest } from 'fastify'

/**
 * Handles request bodies that are not read to the end. A client that sends `Expect: 100-continue` is told to continue
 * only when the body is needed. Any other client is allowed to finish sending, so that it can read the response.
 */
export function handleUnreadBodies(server: FastifyInstance): void {
  server.server.on('checkContinue', (request, response) => server.server.emit('request', request, response))
  server.addHook('onSend', async (request, reply) => {
    // The client may or may not send the body now, so the connection cannot be reused.
    if (expectsContinue(request) && !request.raw.readableDidRead) reply.header('connection', 'close')
  })
  server.addHook('onResponse', async ({ raw }) => {
    if (raw.readableEnded) return
    raw.unpipe()
    raw.resume()
    // A server that is closing has already closed its idle connections; this one was not idle.
    raw.once('end', () => server.server.listening || raw.socket.end())
  })
}

/** Responds with `100 Continue` if the client waits for it. */
export function sendContinue(request: FastifyRequest, response: { writeContinue(): void }): void {
  if (expectsContinue(request)) response.writeContinue()
}

function expectsContinue(request: FastifyRequest): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue'
}
