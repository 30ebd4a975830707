import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync } from 'node:fs'
import { createConnection, createServer, type AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export interface Redis {
  readonly url: string
  close(): Promise<void>
}

/** Starts a Redis of its own that keeps nothing; undefined where there is none on this machine. */
export async function startRedis(folder: string): Promise<Redis | undefined> {
  if (!isInstalled('redis-server')) return undefined
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  const server = spawn('redis-server', args, { stdio: 'ignore' })
  const ended = once(server, 'exit')
  while (!(await responds(port))) {
    if (server.exitCode !== null) throw new Error(`redis-server ended with code ${server.exitCode}`)
    await wait(20)
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      server.kill()
      await ended
    },
  }
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program))
      return true
    } catch {
      return false
    }
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function responds(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
