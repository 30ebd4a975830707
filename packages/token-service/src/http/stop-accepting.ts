import { Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

const quietTurns = 10
const maxTurns = 100
const arrivalTurns = 25

/** Time in turns of the event loop, so that a process that stood still does not count it as quiet. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await delay(10)
}

/**
 * Accepts no more connections, once none has arrived for a moment: the operating system resets those that still wait to
 * be accepted, and Node accepts one in each turn of its event loop. Unlike the `close` of an HTTP server, this leaves
 * connections open on which a request may be on its way.
 */
export async function stopAccepting({ server }: FastifyInstance): Promise<void> {
  let quiet = 0
  server.on('connection', () => (quiet = 0))
  for (let turn = 0; quiet < quietTurns && turn < maxTurns; turn += 1) {
    await turns(1)
    quiet += 1
  }
  Server.prototype.close.call(server)
}

/** Resolves when a connection on which no request has arrived is idle. */
export function requestsHaveArrived(): Promise<void> {
  return turns(arrivalTurns)
}
