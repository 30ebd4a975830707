import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import getPort from 'get-port'

/** A Redis process that keeps nothing. */
export interface Redis {
  readonly url: string
  close(): Promise<void>
}

/** Starts one on a free port; undefined where `redis-server` is not installed. */
export async function startRedis(): Promise<Redis | undefined> {
  if (spawnSync('redis-server', ['--version']).status !== 0) return undefined
  const port = await getPort()
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] })
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => String(text).includes('Ready to accept') && resolve())
    child.once('exit', () => reject(new Error('redis-server ended')))
  })
  return {
    url: `redis://127.0.0.1:${port}`,
    async close() {
      child.kill()
      await once(child, 'exit')
    },
  }
}
