import type { FastifyInstance, FastifyReply } from 'fastify'
import type { ServerResponse } from 'node:http'
import cors from '@fastify/cors'
import { ApiError } from './handle-errors.ts'

/** Returns a signal that aborts when the client disconnects before it has received the response. */
export function abortOnDisconnect(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return
    controller.abort(new ApiError(499, 'client_disconnected', 'The client closed the connection.'))
  })
  return controller.signal
}

/** Makes a closing server wait for pending responses: without this, it closes a connection as soon as it is idle. */
export function finishResponses(server: FastifyInstance): void {
  const pending = new Set<ServerResponse>()
  let onIdle = () => {}
  server.addHook('onRequest', async (_request, { raw }) => {
    pending.add(raw)
    raw.once('close', () => {
      pending.delete(raw)
      if (pending.size === 0) onIdle()
    })
  })
  server.addHook('preClose', async () => {
    if (pending.size > 0) await new Promise<void>((resolve) => (onIdle = resolve))
  })
}

/**
 * Allows pages of these origins to call the API (CORS) and to read the headers of its responses.
 *
 * @throws {TypeError} if one of them is not an origin
 */
export function allowOrigins(server: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return
  for (const origin of origins) {
    if (URL.parse(origin)?.origin !== origin) {
      throw new TypeError(
        `"${origin}" is not a valid origin. Set only scheme, host and port, such as https://app.example.com.`,
      )
    }
  }
  server.register(cors, {
    origin: [...origins],
    methods: ['GET', 'POST', 'DELETE'],
    allowedHeaders: ['Authorization', 'Content-Type', 'Prefer'],
    exposedHeaders: ['WWW-Authenticate', 'Retry-After', 'Location'],
    maxAge: 600,
  })
}
