import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { unprivilegedUser } from './private-postgres.ts'

const program = '/usr/sbin/pgbouncer'

export const pgbouncerIsAbsent = !existsSync(program)

export const withoutPgbouncer = 'needs PgBouncer: install the Debian package "pgbouncer"'

export interface Pgbouncer {
  /** The URL of the same database through the pooler. */
  readonly url: string
  stop(): Promise<void>
}

/** A pooler in transaction mode in front of the database at a URL, with few connections to it. */
export async function startPgbouncer(databaseUrl: string, connections = 3): Promise<Pgbouncer> {
  const { hostname, port: serverPort, username, pathname } = new URL(databaseUrl)
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-pgbouncer-'))
  const port = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${connections}
`,
  )
  const user = unprivilegedUser(folder)
  const server = spawn(program, [settings], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  await new Promise<void>((resolve, reject) => {
    let log = ''
    void ended.then(() => reject(new Error(`PgBouncer exited: ${log}`)))
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('process up')) resolve()
    })
  })
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    async stop() {
      server.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
