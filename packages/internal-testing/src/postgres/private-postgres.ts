import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../free-port.ts'
import type { SharedServer } from '../shared-server.ts'

const binaries = '/usr/lib/postgresql'
const newest = existsSync(binaries)
  ? readdirSync(binaries).toSorted((a, b) => Number(b) - Number(a))[0]
  : undefined

export const isInstalled = newest !== undefined

const forTests = { fsync: 'off', max_connections: 300 }

/** A private server in a temporary folder; a standby of the server at the URL `standbyOf`, if there is one. */
export async function startPostgresServer(
  further: Readonly<Record<string, string | number>> = forTests,
  standbyOf?: string,
): Promise<SharedServer & { readonly crash: () => Promise<void> }> {
  if (newest === undefined) throw new Error('PostgreSQL is not here: install the Debian package postgresql.')
  const bin = join(binaries, newest, 'bin')
  const data = mkdtempSync(join(tmpdir(), 'tokenwell-postgres-'))
  const user = unprivilegedUser(data)
  const [program, args] =
    standbyOf === undefined
      ? ['initdb', ['-U', 'tokenwell', '-A', 'trust']]
      : ['pg_basebackup', ['--dbname', standbyOf, '--write-recovery-conf', '--checkpoint=fast']]
  await promisify(execFile)(join(bin, program), ['-D', data, '--no-sync', ...args], { ...user, cwd: data })

  const port = await freePort()
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: data,
    ...further,
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const start = async () => {
    const started = spawn(join(bin, 'postgres'), ['-D', data, ...options], {
      ...user,
      cwd: data,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    await saysReady(started)
    return started
  }
  let server = await start()
  const end = async (signal: NodeJS.Signals) => {
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill(signal)
    await ended
  }
  return {
    url: `postgres://tokenwell@127.0.0.1:${port}/postgres`,
    async crash() {
      // As `pg_ctl stop -m immediate` does.
      await end('SIGQUIT')
      server = await start()
    },
    async stop() {
      await end('SIGINT')
      rmSync(data, { recursive: true, force: true })
    },
  }
}

function saysReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.once('exit', () => reject(new Error(`PostgreSQL exited: ${said}`)))
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (/ready to accept (read-only )?connections/.test(said)) resolve()
    })
  })
}

/** Neither PostgreSQL nor PgBouncer runs as root: the user to run it as, who then owns its folder. */
export function unprivilegedUser(folder: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  const user = { uid: Number(uid), gid: Number(gid) }
  chownSync(folder, user.uid, user.gid)
  return user
}
