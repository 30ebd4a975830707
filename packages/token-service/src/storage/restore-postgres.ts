import type { DatabaseSync } from 'node:sqlite'
import { sql } from 'kysely'
import { systemClock } from '../runtime/clock.ts'
import { createKeyring, createRandomKey } from '../runtime/keyring.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { createDatabase, type Query } from './database.ts'
import { findSchema, migrate, migrations } from './migrate.ts'
import { allowDeletion } from './audit-storage.ts'
import { checkBackup } from './backup-sqlite.ts'
import { importSqlite } from './sqlite-file.ts'
import { NodeSqliteDialect } from './sqlite-dialect.ts'
import { rootReason } from './storage-failure.ts'
import { nameOf } from './open-postgres.ts'
import { createPool, LimitedPostgresDialect } from './postgres-connections.ts'

/** Rows of one statement, which has at most 65,535 parameters. */
const batchSize = 500
/** Those that others refer to come first; the first one says which entries of the audit log may be deleted. */
const referredTo = ['audit_retention', 'projects', 'applications', 'developers']

/**
 * Copies a backup of an SQLite database to an empty PostgreSQL database, in one transaction.
 *
 * @throws {@link UsageError} if the backup cannot be used, or the database is not empty or cannot be reached
 */
export async function restorePostgres(backup: string, url: string): Promise<void> {
  const { DatabaseSync } = await importSqlite()
  checkBackup(backup, DatabaseSync)
  const sqlite = new DatabaseSync(backup, { readOnly: true })
  const pool = createPool(url, new Set(), () => {})
  try {
    const from = createDatabase(
      { kind: 'sqlite', name: `The backup ${backup}` },
      new NodeSqliteDialect(sqlite),
    )
    const schema = await findSchema(from)
    const name = nameOf(url)
    const to = createDatabase({ kind: 'postgres', name }, new LimitedPostgresDialect(pool))
    await to.query.transaction().execute(async (query) => {
      if ((await findSchema({ ...to, query })) > 0)
        throw new UsageError(`${name} is not empty. Restore to an empty one.`)
      // What it signs in the new database is replaced by what the backup contains.
      const context = { keyring: createKeyring([createRandomKey()]), clock: systemClock }
      await migrate({ ...to, query }, context, migrations.slice(0, schema))
      await copyTables(sqlite, query)
    })
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`Could not restore ${backup} to ${nameOf(url)}: ${rootReason(error)}.`)
  } finally {
    sqlite.close()
    await pool.end()
  }
}

async function copyTables(sqlite: DatabaseSync, query: Query): Promise<void> {
  const found = sqlite
    .prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
    .all()
    .map(({ name }) => String(name))
    .filter((name) => name !== 'tokenwell_schema')
  const tables = new Set([...referredTo, ...found])
  // The entry of the creation is replaced by those of the backup, too.
  await allowDeletion(query, 1)
  for (const table of [...tables].toReversed()) await sql`delete from ${sql.table(table)}`.execute(query)
  for (const table of tables) {
    let batch: Row[] = []
    for (const row of sqlite.prepare(`select * from "${table}"`).iterate() as Iterable<Row>) {
      if (batch.push(row) < batchSize) continue
      await insert(query, table, batch)
      batch = []
    }
    await insert(query, table, batch)
  }
  await sql`select setval(pg_get_serial_sequence('audit', 'id'), (select coalesce(max(id), 1) from audit))`.execute(
    query,
  )
}

type Row = Readonly<Record<string, string | number | null>>

async function insert(query: Query, table: string, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const columns = sql.join(Object.keys(rows[0]!).map((column) => sql.ref(column)))
  const values = sql.join(rows.map((row) => sql`(${sql.join(Object.values(row))})`))
  await sql`insert into ${sql.table(table)} (${columns}) overriding system value values ${values}`.execute(
    query,
  )
}
