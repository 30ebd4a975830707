import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createServer, connect } from 'node:net'
import { sql } from 'kysely'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { createKeyring } from '../../src/runtime/keyring.ts'
import { migrate, migrations } from '../../src/storage/migrate.ts'
import { initial } from '../../src/storage/migrations/0001-initial.ts'
import type { Migration } from '../../src/storage/migrations/migration.ts'
import { SchemaMismatch } from '../../src/storage/storage-failure.ts'
import type { Database } from '../../src/storage/database.ts'
import { auditStorage } from '../../src/storage/audit-storage.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { createPostgresTestDatabase, createSqliteTestDatabase, openTestSqlite } from './open-test-storage.ts'

const context = { keyring: createKeyring(['k'.repeat(32)]), clock: { now: () => 42 } }

const next: Migration = {
  name: '0002-next',
  statements: () => ['alter table products add column note text', `update products set note = 'kept'`],
  change: async (query) => {
    await sql`insert into products (name, note) values ('added', 'by the change')`.execute(query)
    return [{ event: 'product_added', detail: 'added' }]
  },
}
const broken: Migration = {
  name: '0002-broken',
  statements: () => [...next.statements({ kind: 'sqlite', identity: '', bytewise: '' }), 'no sql'],
}

/** What a migration does, on each kind of database. */
function describeMigrations(create: () => Promise<Database>): void {
  const products = async ({ query }: Database) =>
    (await sql`select name, note from products order by name`.execute(query)).rows

  it('starts the audit log with the creation of the database', async () => {
    const database = await create()
    await migrate(database, context)
    await migrate(database, context)
    const entries = await auditStorage(database).list(9)
    expect(entries).toMatchObject([
      {
        event: 'database_created',
        actorType: 'service',
        id: 1,
        atMs: 42,
        detail: String(migrations.length),
      },
    ])
  })

  it('upgrades an older schema with its data, and records it', async () => {
    const database = await create()
    await migrate(database, context, [initial])
    await sql`insert into products (name) values ('stored')`.execute(database.query)
    await migrate(database, context, [initial, next])
    expect(await products(database)).toEqual([
      { name: 'added', note: 'by the change' },
      { name: 'stored', note: 'kept' },
    ])
    expect(await auditStorage(database).list(2)).toMatchObject([
      { event: 'product_added', detail: 'added', actorType: 'service', id: 3 },
      { event: 'database_upgraded', detail: '2', changes: { schema: { from: 1, to: 2 } }, id: 2 },
    ])
  })

  it('leaves the older schema as it is if a step fails', async () => {
    const database = await create()
    await migrate(database, context, [initial])
    await expect(migrate(database, context, [initial, broken])).rejects.toThrow(/no/)
    await sql`insert into products (name) values ('stored')`.execute(database.query)
    await migrate(database, context, [initial])
    expect(await auditStorage(database).list(9)).toHaveLength(1)
  })

  it('does not open a database of a newer version', async () => {
    const database = await create()
    await migrate(database, context, [initial, next])
    await expect(migrate(database, context, [initial])).rejects.toThrow(
      new SchemaMismatch(
        `${database.name} has schema 2, and this version only knows schemas up to 1. Start the newer version, or restore an older backup.`,
      ),
    )
  })

  it.each([
    ['another first migration', [{ ...initial, name: '0001-other' }, next]],
    ['another last migration', [initial, { ...next, statements: () => ['drop table products'] }]],
  ])('does not open a database that was created by %s', async (_, migrations) => {
    const database = await create()
    await migrate(database, context, [initial, next])
    const message =
      /^.+ has schema \d with the fingerprint \S{12}, and this version expects \S{12}\. Start the /
    await expect(migrate(database, context, migrations)).rejects.toThrow(message)
    await expect(migrate(database, context, migrations)).rejects.toThrow(SchemaMismatch)
  })
}

describe('a migration of SQLite', () => {
  describeMigrations(async () => {
    const database = createSqliteTestDatabase()
    onTestFinished(() => database.query.destroy())
    return database
  })

  it('of another schema ends the command with one sentence', async () => {
    const file = join(temporaryFolder(), 'data.db')
    await (await openTestSqlite(file)).close()
    writeFileSync(`${file}.keys`, 'k'.repeat(32), { mode: 0o600 })
    const sqlite = new DatabaseSync(file)
    sqlite.exec(`update tokenwell_schema set fingerprint = 'other'`)
    sqlite.close()
    const { code, stderr } = await runCommand(['--storage', `sqlite:${file}`, '--port', '0']).ended
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^tokenwell-service: The database file \S+data\.db has schema \d with the fingerprint other, and [^\n]+\n$/,
      ),
    ])
  })
})

describe.skipIf(postgresIsAbsent)(`a migration of PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  describeMigrations(async () => {
    const database = createPostgresTestDatabase(await postgres.createDatabase())
    onTestFinished(() => database.query.destroy())
    return database
  })

  it.each(['at the start', 'once it can be reached'])(
    'of another schema ends the command with one sentence, %s',
    async (when) => {
      const url = new URL(await postgres.createDatabase())
      const client = new Client({ connectionString: url.href })
      await client.connect()
      await client.query(
        `create table tokenwell_schema (number integer primary key, fingerprint text, applied_at_ms bigint)`,
      )
      await client.query(`insert into tokenwell_schema values (1, 'other', 0)`)
      await client.end()
      const server = { host: url.hostname, port: Number(url.port) }
      const isUnreachable = when !== 'at the start'
      if (isUnreachable) url.port = String(await freePort())
      const run = runCommand(['--storage', url.href, '--port', '0'], {
        env: { TOKENWELL_SECRET_HASH_KEYS: 'k'.repeat(32), TOKENWELL_LOG_LEVEL: 'silent' },
      })
      if (isUnreachable) {
        await run.authUrl
        const reachable = createServer((socket) => socket.pipe(connect(server)).pipe(socket))
        reachable.listen(Number(url.port), '127.0.0.1')
        onTestFinished(() => void reachable.close())
      }
      const { code, stderr } = await run.ended
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^tokenwell-service: The database at \S+ has schema 1 with the fingerprint other, and [^\n]+\n$/m,
      )
      expect(stderr).not.toMatch(/^ +at /m)
    },
  )
})
