import type { FastifyReply } from 'fastify'
import { ApiError } from './api-error.ts'

/** Returns a signal that aborts when the client disconnects before it has received the response. */
export function abortOnDisconnect(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return
    controller.abort(new ApiError(499, 'client_disconnected', 'The client closed the connection.'))
  })
  return controller.signal
}
