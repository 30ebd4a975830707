import { Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

const turnMs = 10
const quietTurns = 10
const maxTurns = 100

/**
 * Accepts no more connections, once none has arrived for a moment: the operating system resets those that still wait to
 * be accepted, and Node accepts one in each turn of its event loop. Unlike the `close` of an HTTP server, this leaves
 * connections open on which a request may be on its way.
 */
export async function stopAccepting({ server }: FastifyInstance): Promise<void> {
  let quiet = 0
  server.on('connection', () => (quiet = 0))
  for (let turns = 0; quiet < quietTurns && turns < maxTurns; turns += 1) {
    await delay(turnMs)
    quiet += 1
  }
  Server.prototype.close.call(server)
}
