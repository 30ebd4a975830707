import type { FastifyReply } from 'fastify'
import { ApiError } from './api-error.ts'

/** Aborts when the client goes away before it has its answer. */
export function clientSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return
    controller.abort(new ApiError(499, 'client_gone', 'The client closed the connection.'))
  })
  return controller.signal
}
