import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { Client } from 'pg'

const givenUrl = process.env['TOKENWELL_TEST_POSTGRES_URL']
const binaries = '/usr/lib/postgresql'
const newest = existsSync(binaries)
  ? readdirSync(binaries).toSorted((a, b) => Number(b) - Number(a))[0]
  : undefined

export const postgresIsAbsent = givenUrl === undefined && newest === undefined

export const withoutPostgres =
  'needs PostgreSQL: install the Debian package "postgresql", or set TOKENWELL_TEST_POSTGRES_URL'

export interface PostgresCluster {
  /** The URL of a separate database. */
  createDatabase(): Promise<string>
  stop(): Promise<void>
}

/** The server at the given URL, or a private one in a temporary folder. */
export async function startPostgres(): Promise<PostgresCluster> {
  return givenUrl === undefined ? startPrivate() : { ...onServer(givenUrl), stop: async () => {} }
}

function onServer(adminUrl: string): Pick<PostgresCluster, 'createDatabase'> {
  return {
    async createDatabase() {
      const name = `tokenwell_${randomUUID().replaceAll('-', '')}`
      const client = new Client({ connectionString: adminUrl })
      await client.connect()
      await client.query(`create database ${name}`)
      await client.end()
      const url = new URL(adminUrl)
      url.pathname = `/${name}`
      return url.href
    },
  }
}

async function startPrivate(): Promise<PostgresCluster> {
  const bin = join(binaries, newest ?? '', 'bin')
  const data = mkdtempSync(join(tmpdir(), 'tokenwell-postgres-'))
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? nobody() : undefined
  if (user) chownSync(data, user.uid, user.gid)

  const made = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', 'tokenwell', '-A', 'trust', '--no-sync'], {
    ...user,
    cwd: data,
    encoding: 'utf8',
  })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)

  const port = await freePort()
  const settings = { port, listen_addresses: '127.0.0.1', unix_socket_directories: data, fsync: 'off' }
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...args], {
    ...user,
    cwd: data,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await saysReady(server)
  return {
    ...onServer(`postgres://tokenwell@127.0.0.1:${port}/postgres`),
    async stop() {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill('SIGINT')
      await ended
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
      if (said.includes('ready to accept connections')) resolve()
    })
  })
}

function nobody(): { uid: number; gid: number } {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((each) => each.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  return { uid: Number(uid), gid: Number(gid) }
}
