import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { allowDeletion } from '../../src/storage/audit-storage.ts'
import { catalogueStorage } from '../../src/features/catalogue/storage.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { createKeyring } from '../../src/runtime/keyring.ts'
import { migrate, migrations } from '../../src/storage/migrate.ts'
import type { Database } from '../../src/storage/database.ts'
import { temporaryFolder } from '../service-process.ts'
import { application, introspect, requestToken, serviceWithContext } from '../test-service.ts'
import { fillEveryTable, people } from './fill-every-table.ts'
import { createPostgresTestDatabase, createSqliteTestDatabase } from './open-test-storage.ts'

/** A database of each published schema, written by the version that published it, with data in every table. */
const folder = fileURLToPath(new URL('./published', import.meta.url))
const fileOf = (schema: number) => join(folder, `${schema}.json`)
const kept = () =>
  existsSync(folder)
    ? readdirSync(folder)
        .map((name) => Number.parseInt(name, 10))
        .toSorted((a, b) => a - b)
    : []
const newest = migrations.length
const secretHashKeys = ['the key of the databases of every schema']

let filled: Promise<StoredDatabase> | undefined
/** A database of the newest schema as this version fills it. */
const storedDatabase = () => (filled ??= createStoredDatabase())

interface StoredDatabase {
  /** A token that is still active in many years. */
  readonly token: string
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, string | number | null>>[]>>
}

/** Fills a new database by using the service. */
async function createStoredDatabase(): Promise<StoredDatabase> {
  const file = join(temporaryFolder(), 'data.db')
  const service = await serviceWithContext({
    storage: `sqlite:${file}`,
    secretHashKeys,
    portal: true,
  })
  const { body } = await requestToken(service.authUrl)
  await fillEveryTable(service)
  await service.close()
  const sqlite = new DatabaseSync(file)
  sqlite.exec(`update tokens set expires_at_ms = ${Date.UTC(2100, 0)}`)
  const names = sqlite
    .prepare(
      `select name from sqlite_master where type = 'table' and name not in ('tokenwell_schema', 'sqlite_sequence') order by name`,
    )
    .all()
    .map(({ name }) => String(name))
  const tables = names.map((name) => [name, sqlite.prepare(`select * from "${name}"`).all()])
  sqlite.close()
  return { token: body.access_token, tables: Object.fromEntries(tables) }
}

/** Writes the rows to a database of that schema. */
async function restore(database: Database, schema: number, stored: StoredDatabase): Promise<void> {
  const context = { keyring: createKeyring(secretHashKeys), clock: systemClock }
  await migrate(database, context, migrations.slice(0, schema))
  await database.query.transaction().execute(async (query) => {
    // Those that others refer to come first.
    await allowDeletion(query, 1)
    const names = new Set(['projects', 'applications', 'developers', ...Object.keys(stored.tables)])
    for (const name of names) await sql`delete from ${sql.table(name)}`.execute(query)
    for (const name of names) {
      for (const row of stored.tables[name] ?? []) {
        const columns = sql.join(Object.keys(row).map((column) => sql.ref(column)))
        const overriding = database.kind === 'postgres' ? sql`overriding system value` : sql``
        await sql`insert into ${sql.table(name)} (${columns}) ${overriding} values (${sql.join(Object.values(row))})`.execute(
          query,
        )
      }
    }
    if (database.kind === 'postgres')
      await sql`select setval(pg_get_serial_sequence('audit', 'id'), (select max(id) from audit))`.execute(
        query,
      )
  })
  await database.query.destroy()
}

function describeUpgrades(create: () => Promise<{ storage: string; database: Database }>): void {
  const databases = [
    ...kept().map((schema) => ({
      of: `schema ${schema}`,
      schema,
      read: async () => JSON.parse(readFileSync(fileOf(schema), 'utf8')) as StoredDatabase,
    })),
    { of: 'this version', schema: newest, read: storedDatabase },
  ]
  it.each(databases)('of $of keeps its data', async ({ schema, read }) => {
    const { storage, database } = await create()
    const stored = await read()
    await restore(database, schema, stored)
    const { token, tables } = stored
    const { authUrl, context } = await serviceWithContext({
      storage,
      secretHashKeys,
      applications: [],
      resourceServers: [],
      portal: true,
    })
    expect((await requestToken(authUrl)).status).toBe(200)
    expect((await introspect(authUrl, token)).body).toMatchObject({
      active: true,
      client_id: application.clientId,
    })
    const { audit, developers, projects } = context.storage
    const entries = await audit.list(1_000)
    expect(entries.length).toBe(tables['audit']!.length + (schema === newest ? 0 : 1))
    expect((await developers.list()).map(({ name }) => name)).toEqual(people)
    expect(await projects.list()).toHaveLength(tables['projects']!.length)
    await context.perform({ actorType: 'api' }, async (act) => {
      await catalogueStorage(act, 'products').add(['new'])
      act.audit('product_added', { detail: 'new' })
    })
    expect(await audit.after(entries[0]!.id, 9)).toMatchObject([{ event: 'product_added' }])
  })
}

describe('the databases of published schemas', () => {
  it('are kept from the first one on', async () => {
    if (process.env['WRITE_SCHEMA'] && !existsSync(fileOf(newest))) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(fileOf(newest), `${JSON.stringify(await storedDatabase(), undefined, 2)}\n`)
    }
    expect(kept()).toEqual(kept().map((_, index) => index + 1))
    expect(kept().length).toBeLessThanOrEqual(newest)
  })

  it('have data in every table', async () => {
    const { tables } = await storedDatabase()
    expect(Object.entries(tables).filter(([, rows]) => rows.length === 0)).toEqual([])
    if (kept().includes(newest)) {
      const published = JSON.parse(readFileSync(fileOf(newest), 'utf8')) as StoredDatabase
      expect(Object.keys(published.tables)).toEqual(Object.keys(tables))
    }
  })
})

describe('an upgrade of SQLite', () => {
  describeUpgrades(async () => {
    const file = join(temporaryFolder(), 'data.db')
    const database = createSqliteTestDatabase(file)
    return { storage: `sqlite:${file}`, database }
  })
})

describe.skipIf(postgresIsAbsent)(`an upgrade of PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  describeUpgrades(async () => {
    const storage = await postgres.createDatabase()
    return { storage, database: createPostgresTestDatabase(storage) }
  })
})
