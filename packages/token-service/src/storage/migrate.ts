import { sql } from 'kysely'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import { digest } from '../runtime/digest.ts'
import { type AuditEvent, auditStorage } from './audit-storage.ts'
import { initial } from './migrations/0001-initial.ts'
import type { ColumnTypes, Migration } from './migrations/migration.ts'

import { SchemaMismatch } from './storage-failure.ts'
import { inTransaction, lockActs, type Database, type Query } from './database.ts'
import { purgeTimeStorage } from './purge-time.ts'

/** In their order: the first one creates schema 1. */
export const migrations: readonly Migration[] = [initial]

/** What the migration of a database needs. */
export interface MigrationContext {
  /** Signs the time of the last purge. */
  readonly keyring: Keyring
  readonly clock: Clock
}

/** How a database is opened. */
export interface OpenOptions extends MigrationContext {
  /** Called for failures that no caller gets to see. */
  readonly onError: (error: unknown) => void
  /** Runs once, after the migrations and before anything else; the database is not opened if it rejects. */
  readonly prepare: (database: Database) => Promise<void>
}

/**
 * The number of the schema that the database has; 0 if it has none.
 *
 * @throws {@link SchemaMismatch} if another version of the program created or upgraded it
 */
export async function findSchema(database: Database): Promise<number> {
  if (!(await tableExists(database, 'tokenwell_schema'))) return 0
  const { rows } = await sql<AppliedSchema>`
    select number, fingerprint from tokenwell_schema order by number`.execute(database.query)
  return checkApplied(database.name, rows, describeSchemas(database.kind, migrations))
}

interface AppliedSchema {
  readonly number: number
  readonly fingerprint: string
}

/**
 * Brings the database to the newest schema, in one transaction. If several instances start at the same time, one
 * migrates and the others wait.
 *
 * @throws {@link SchemaMismatch} if another version of the program created or upgraded the database
 */
export async function migrate(
  database: Database,
  { keyring, clock }: MigrationContext,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  const schemas = describeSchemas(database.kind, steps)
  await inTransaction(database.query, async (query) => {
    const applied = await readApplied({ ...database, query })
    const from = checkApplied(database.name, applied, schemas)
    if (from === schemas.length) return
    await lockActs({ ...database, query })
    const nowMs = clock.now()
    const events: AuditEvent[] = []
    for (const { number, fingerprint, migration, statements } of schemas.slice(from)) {
      for (const statement of statements) await sql.raw(statement).execute(query)
      events.push(...((await migration.change?.(query)) ?? []))
      await sql`insert into tokenwell_schema values (${number}, ${fingerprint}, ${nowMs})`.execute(query)
    }
    const to = schemas.length
    const upgrade: AuditEvent =
      from === 0
        ? { event: 'database_created', detail: String(to) }
        : { event: 'database_upgraded', detail: String(to), changes: { schema: { from, to } } }
    const by = { actorType: 'service', atMs: nowMs, count: 1 } as const
    const entries = [upgrade, ...events].map((event) => ({ ...by, ...event }))
    await auditStorage({ ...database, query }).append(entries)
    if (from === 0) await purgeTimeStorage({ ...database, query }).set(nowMs, keyring)
  })
}

const columnTypes: Readonly<Record<Database['kind'], ColumnTypes>> = {
  // Without autoincrement, the ID of the last row is used again once that is deleted.
  sqlite: { kind: 'sqlite', identity: 'integer primary key autoincrement', bytewise: 'text' },
  postgres: {
    kind: 'postgres',
    identity: 'bigint primary key generated always as identity',
    bytewise: 'text collate "C"',
  },
}

/** Numbers the schemas; the fingerprint of each covers every statement from the first one on. */
function describeSchemas(kind: Database['kind'], migrations: readonly Migration[]) {
  let fingerprint = ''
  return migrations.map((migration, index) => {
    const statements = migration.statements(columnTypes[kind])
    fingerprint = digest(JSON.stringify([fingerprint, migration.name, statements])).slice(0, 12)
    return { number: index + 1, fingerprint, migration, statements }
  })
}

async function readApplied(database: Database): Promise<AppliedSchema[]> {
  const { kind, query } = database
  if (kind === 'postgres')
    await sql`select pg_advisory_xact_lock(hashtext('tokenwell_schema'))`.execute(query)
  await sql`create table if not exists tokenwell_schema (
    number integer primary key,
    fingerprint text not null,
    applied_at_ms bigint not null
  )`.execute(query)
  const { rows } = await sql<AppliedSchema>`
    select number, fingerprint from tokenwell_schema order by number`.execute(query)
  return rows
}

async function tableExists(
  { kind, query }: { kind: Database['kind']; query: Query },
  name: string,
): Promise<boolean> {
  const { rows } = await (
    kind === 'postgres'
      ? sql`select 1 where to_regclass(${name}) is not null`
      : sql`select 1 from sqlite_master where name = ${name}`
  ).execute(query)
  return rows.length > 0
}

/** Returns the number of the schema that the database has. */
function checkApplied(
  name: string,
  applied: readonly AppliedSchema[],
  schemas: readonly AppliedSchema[],
): number {
  for (const [index, { number, fingerprint }] of applied.entries()) {
    const expected = schemas[index]
    if (!expected) {
      throw new SchemaMismatch(
        `${name} has schema ${applied.length}, and this version only knows schemas up to ${schemas.length}. Start the newer version, or restore an older backup.`,
      )
    }
    if (number !== expected.number || fingerprint !== expected.fingerprint) {
      throw new SchemaMismatch(
        `${name} has schema ${number} with the fingerprint ${fingerprint}, and this version expects ${expected.fingerprint}. Start the version that created the database, or restore a backup.`,
      )
    }
  }
  return applied.length
}
