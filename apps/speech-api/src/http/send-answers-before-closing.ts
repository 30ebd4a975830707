import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'

/** Has a server that closes wait until all answers under way are sent: a connection is cut as soon as one is ready. */
export function sendAnswersBeforeClosing(server: FastifyInstance): void {
  const underWay = new Set<ServerResponse>()
  let onIdle = () => {}
  server.addHook('onRequest', async (_request, { raw }) => {
    underWay.add(raw)
    raw.once('close', () => {
      underWay.delete(raw)
      if (underWay.size === 0) onIdle()
    })
  })
  server.addHook('preClose', async () => {
    if (underWay.size > 0) await new Promise<void>((resolve) => (onIdle = resolve))
  })
}
