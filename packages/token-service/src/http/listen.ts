import { type AddressInfo, Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { UsageError } from '../runtime/usage-error.ts'

export interface ListenerAddress {
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
  /** `0`: a free port. @default 0 */
  readonly port?: number | undefined
}

/**
 * Listens for requests; returns the URL for clients on this machine.
 *
 * @throws {@link UsageError} if the port or the address cannot be used
 */
export async function listen(
  server: FastifyInstance,
  { host = '127.0.0.1', port = 0 }: ListenerAddress,
): Promise<string> {
  try {
    await server.listen({ host, port })
  } catch (error) {
    throw usageError(error, host, port)
  }
  return urlOf(server.server.address() as AddressInfo)
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (family === 'IPv6') return `http://[${address === '::' ? '::1' : address}]:${port}`
  return `http://${address === '0.0.0.0' ? '127.0.0.1' : address}:${port}`
}

function usageError(error: unknown, host: string, port: number): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return new UsageError(`Port ${port} on ${host} is in use. Choose another port.`)
  if (code === 'EACCES') {
    return new UsageError(`Port ${port} on ${host} requires elevated privileges. Choose a port above 1023.`)
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new UsageError(`${host} is not an address of this machine. Choose another address.`)
  }
  return error
}

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
