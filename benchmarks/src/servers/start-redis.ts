import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

export interface RunningRedis {
  readonly url: string
  stop(): void
}

/** A Redis of the benchmark's own, in a folder of its own; undefined where `redis-server` is not installed. */
export async function startRedis(): Promise<RunningRedis | undefined> {
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-redis-'))
  const settings = ['--save', '', '--appendonly', 'no', '--bind', '127.0.0.1', '--dir', folder]
  const child = spawn('redis-server', [...settings, '--port', String(port)])
  const started = await new Promise<boolean>((resolve) => {
    child.once('error', () => resolve(false)).once('exit', () => resolve(false))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('Ready to accept connections')) resolve(true)
    })
  })
  const stop = (): void => {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  if (started) return { url: `redis://127.0.0.1:${port}`, stop }
  stop()
  return undefined
}
