import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A connection to a Redis server that a test can break. */
export interface BreakableConnection extends AsyncDisposable {
  readonly port: number
  /** Delays each reply. */
  delayMs: number
  /** Breaks the connection instead of forwarding the next script, or its reply, which Redis then has executed. */
  breakAt(what: 'script' | 'reply'): void
}

export async function startBreakableConnection(redisPort: number): Promise<BreakableConnection> {
  let armed: 'script' | 'reply' | undefined
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(redisPort, '127.0.0.1')
    const cut = () => {
      armed = undefined
      near.destroy()
      far.destroy()
    }
    let breaksAtReply = false
    near.on('data', (data) => {
      const isScript = /\r\nEVAL/i.test(data.toString('latin1'))
      if (isScript && armed === 'script') return cut()
      breaksAtReply = isScript && armed === 'reply'
      far.write(data)
    })
    far.on('data', (data) => {
      if (breaksAtReply) return cut()
      if (connection.delayMs === 0) near.write(data)
      else setTimeout(() => near.destroyed || near.write(data), connection.delayMs)
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.setNoDelay().on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection: BreakableConnection = {
    port: (server.address() as AddressInfo).port,
    delayMs: 0,
    breakAt(what) {
      armed = what
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
  return connection
}
