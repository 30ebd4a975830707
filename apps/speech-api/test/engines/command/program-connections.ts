import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'

/** Accepts a connection from each long-running test program: it closes when the program and its children have exited. */
export interface ProgramConnections {
  readonly port: number
  /** Resolves with the next connections. */
  next(count: number): Promise<Socket[]>
  close(): void
}

export async function acceptConnections(): Promise<ProgramConnections> {
  let accept: (socket: Socket) => void = () => {}
  const server = createServer((socket) => accept(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    next(count) {
      const sockets: Socket[] = []
      return new Promise((resolve) => {
        accept = (socket) => {
          socket.on('error', () => {})
          if (sockets.push(socket.resume()) === count) resolve(sockets)
        }
      })
    },
    close: () => void server.close(),
  }
}

/** Resolves when all programs have exited. */
export async function allExited(sockets: readonly Socket[]): Promise<void> {
  await Promise.all(sockets.map(async (socket) => socket.closed || once(socket, 'close')))
}
