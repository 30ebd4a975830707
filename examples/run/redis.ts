import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import getPort from 'get-port'

/** A Redis process without persistence. */
export interface Redis {
  readonly url: string
  close(): Promise<void>
}

/** Starts Redis on a free port; undefined if `redis-server` is not installed. */
export async function startRedis(): Promise<Redis | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const port = await getPort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => String(text).includes('Ready to accept') && resolve())
    child.once('exit', () => reject(new Error('redis-server exited')))
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
