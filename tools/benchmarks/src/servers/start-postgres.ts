import { type AddressInfo, createServer } from 'node:net'
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

const binaries = '/usr/lib/postgresql'

export interface RunningPostgres {
  readonly url: string
  readonly version: string
  /** Runs a statement directly, without the service. */
  run(statement: string): void
  stop(): void
}

/** A separate PostgreSQL with default settings, `fsync` included; undefined where it is not installed. */
export async function startPostgres(): Promise<RunningPostgres | undefined> {
  const version = existsSync(binaries) ? readdirSync(binaries).at(-1) : undefined
  if (version === undefined) return undefined
  const bin = join(binaries, version, 'bin')
  const folder = mkdtempSync(join(tmpdir(), 'tokenwell-postgres-'))
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? nobody() : undefined
  if (user) chownSync(folder, user.uid, user.gid)
  const options = { ...user, cwd: folder, encoding: 'utf8' } as const
  const made = spawnSync(join(bin, 'initdb'), ['-D', folder, '-U', 'tokenwell', '-A', 'trust'], options)
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)

  const port = await freePort()
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: folder }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = spawn(join(bin, 'postgres'), ['-D', folder, ...flags], { ...user, cwd: folder })
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('PostgreSQL did not start')))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (text.includes('ready to accept connections')) resolve()
    })
  })
  const url = `postgres://tokenwell@127.0.0.1:${port}/postgres`
  return {
    url,
    version,
    run(statement) {
      const ran = spawnSync(join(bin, 'psql'), [url, '-v', 'ON_ERROR_STOP=1', '-qc', statement], options)
      if (ran.status !== 0) throw new Error(`psql failed: ${ran.stderr}`)
    },
    stop() {
      child.kill('SIGQUIT')
      child.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    },
  }
}

function nobody(): { uid: number; gid: number } {
  const [, , uid, gid] = /^nobody:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))?.[0].split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}
