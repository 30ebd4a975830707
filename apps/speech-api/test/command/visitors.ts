import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** A place where programs that stay check in: their connections end when they do. */
export interface Visitors {
  readonly port: number
  /** The next so many to come. */
  next(number: number): Promise<Socket[]>
  close(): void
}

export async function receiveVisitors(): Promise<Visitors> {
  let come: (visitor: Socket) => void = () => {}
  const server = createServer((visitor) => come(visitor)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    next(number) {
      const sockets: Socket[] = []
      return new Promise((resolve) => {
        come = (socket) => {
          socket.on('error', () => {})
          if (sockets.push(socket.resume()) === number) resolve(sockets)
        }
      })
    },
    close: () => void server.close(),
  }
}

/** Settled when all of them have ended. */
export async function gone(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(sockets.map(async (socket) => socket.closed || once(socket, 'close')))
}
