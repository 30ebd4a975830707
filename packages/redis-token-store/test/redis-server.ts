import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@tokenwell/testing/free-port'

/** Whether real Redis processes can be started here. */
export const redisInstalled = spawnSync('redis-server', ['--version']).status === 0
if (!redisInstalled)
  process.stderr.write('Tests on a real Redis are skipped: install redis-server, 7 or later\n')

/** A Redis process of a test's own, in a folder of its own. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number
  readonly url: string
  /** Ends the process at once, as a crash would. */
  kill(): Promise<void>
  /** Starts it again on its port. */
  start(): Promise<void>
  /** Stops it from answering, or lets it go on. */
  freeze(frozen: boolean): void
}

/** @param settings such as `['--maxmemory', '2mb']` */
export function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  return startProcess(() => ['--save', '', '--appendonly', 'no', ...settings])
}

/** @param settingsIn the settings, given the process's folder */
export async function startProcess(
  settingsIn: (folder: string) => readonly string[] | Promise<readonly string[]>,
): Promise<RedisServer> {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'redis-token-store-'))
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
        child.once('exit', () => reject(new Error(`redis-server ended:\n${log}`)))
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
