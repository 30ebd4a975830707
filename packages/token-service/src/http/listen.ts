import type { AddressInfo } from 'node:net'
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
