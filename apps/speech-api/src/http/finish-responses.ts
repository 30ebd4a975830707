import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

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
