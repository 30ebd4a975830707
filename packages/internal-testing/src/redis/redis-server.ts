import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'

/** Whether `redis-server` is installed. */
export const redisInstalled = spawnSync('redis-server', ['--version']).status === 0
if (!redisInstalled && process.env['VITEST'])
  process.stderr.write('Tests with a real Redis are skipped: install redis-server 7 or later.\n')

/** A separate Redis process with its own temporary folder. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Kills the process, as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
  /** Pauses or resumes the process. */
  freeze(frozen: boolean): void
}

/** @param settings such as `['--maxmemory', '2mb']` */
export function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  return startProcess(() => ['--save', '', '--appendonly', 'no', ...settings])
}

/** @param settingsIn returns the settings for the folder of the process */
export async function startProcess(
  settingsIn: (folder: string) => readonly string[] | Promise<readonly string[]>,
): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'tokenwell-redis-'))
  const settings = [
    ...(await settingsIn(folder)),
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    folder,
  ]
  let running: ChildProcess | undefined
  const server: RedisServer = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const child = spawn('redis-server', settings, { stdio: ['ignore', 'pipe', 'inherit'] })
      running = child
      await new Promise<void>((resolve, reject) => {
        let log = ''
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          log += text
          if (/Ready to accept connections|Sentinel ID is/.test(log)) resolve()
        })
        child.once('exit', () => reject(new Error(`redis-server exited:\n${log}`)))
      })
    },
    async kill() {
      const child = running
      running = undefined
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
    freeze: (frozen) => void running!.kill(frozen ? 'SIGSTOP' : 'SIGCONT'),
    async [Symbol.asyncDispose]() {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
  await server.start()
  return server
}
