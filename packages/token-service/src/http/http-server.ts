import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../platform/usage-error.ts'
import type { ErrorShape } from '../protocol/protocol-error.ts'
import { respondToMalformedRequests } from './malformed-requests.ts'

export const requestTimeoutMs = 10_000
export const connectionTimeoutMs = 30_000
export const requestLimits = {
  maxHeaderSize: 8 * 1024,
  headersTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}

export interface HttpServerOptions {
  readonly host: string
  /** `0`: a free port. */
  readonly port: number
  /** The format of the responses to malformed requests. */
  readonly shape: ErrorShape
}

export interface ListeningServer {
  readonly url: string
  /** Finishes the pending requests. */
  close(): Promise<void>
}

/**
 * Listens for requests.
 *
 * @throws {@link UsageError} if the port cannot be used
 */
export async function listen(
  respond: RequestListener,
  { host, port, shape }: HttpServerOptions,
): Promise<ListeningServer> {
  const servers: Server[] = []
  let isClosing = false

  async function open(address: string): Promise<void> {
    const limits = { ...requestLimits, requestTimeout: requestTimeoutMs, keepAliveTimeout: 72_000 }
    const server = createServer(limits, (request, response) => {
      if (isClosing) response.setHeader('connection', 'close')
      respond(request, response)
    })
    server.setTimeout(connectionTimeoutMs)
    server.on('clientError', respondToMalformedRequests(shape))
    const first = servers[0] && addressOf(servers[0])
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen({ host: address, port: first?.port ?? port }, resolve)
    })
    servers.push(server)
  }

  async function close(): Promise<void> {
    isClosing = true
    // Otherwise a client that keeps its connection open after the last response would delay this.
    const timer = setInterval(() => servers.forEach((server) => server.closeIdleConnections()), 50)
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
    clearInterval(timer)
  }

  try {
    // A client may try only one of its addresses.
    for (const address of host === 'localhost' ? await addressesOf(host) : [host]) await open(address)
  } catch (error) {
    await close()
    throw usageError(error, host, port)
  }
  return { url: urlOf(addressOf(servers[0]!)), close }
}

async function addressesOf(host: string): Promise<string[]> {
  const { lookup } = await import('node:dns/promises')
  return (await lookup(host, { all: true })).map(({ address }) => address)
}

function addressOf(server: Server): AddressInfo {
  return server.address() as AddressInfo
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
