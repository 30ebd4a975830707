import { CamelCasePlugin, Kysely, sql, type Compilable, type Dialect, type RawBuilder } from 'kysely'
import { createBatcher } from './batcher.ts'
import type { Schema } from './schema.ts'
import { report } from './storage-failure.ts'

export type Query = Kysely<Schema>

/** A database, and what differs between its kinds. */
export interface Database {
  readonly kind: 'sqlite' | 'postgres'
  /** As messages name it. */
  readonly name: string
  readonly query: Query
  /** Texts of statements that are worth preparing once per connection. */
  readonly frequent: Set<string>
}

/** A database that was opened and is migrated. */
export interface OpenDatabase {
  readonly database: Database
  /**
   * Resolves once the database can be used; until then every call rejects. Rejects if this version of the program cannot
   * use it.
   */
  readonly opened: Promise<void>
  /** Writes something; rejects if the database cannot be written to now. */
  readonly probe: () => Promise<void>
  /** Returns the space of deleted rows to the file system, if it does not happen by itself. */
  readonly compact: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Writes the time, once for those that arrive together. */
export function createProbe({ query }: Database, checkSpace = async () => {}): OpenDatabase['probe'] {
  const probe = createBatcher<undefined, void>(async () => {
    await query
      .insertInto('probes')
      .values({ id: 1, atMs: Date.now() })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ atMs: Date.now() }))
      .execute()
    await checkSpace().catch(report)
    return []
  })
  return () => probe(undefined)
}

export function createDatabase(
  { kind, name }: Pick<Database, 'kind' | 'name'>,
  dialect: Dialect,
  frequent = new Set<string>(),
): Database {
  const query = new Kysely<Schema>({ dialect, plugins: [new CamelCasePlugin()] })
  return { kind, name, query, frequent }
}

/** Runs statements in one transaction, which may have begun already. */
export function inTransaction<Result>(
  query: Query,
  work: (transaction: Query) => Promise<Result>,
): Promise<Result> {
  return query.isTransaction ? work(query) : query.transaction().execute(work)
}

/**
 * Runs one transaction at a time, in all instances: each act sees what the last one did, and the entries of the audit log are committed
 * in the order of their IDs.
 */
export function oneAfterAnother<Result>(
  database: Database,
  work: (transaction: Query) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database.query, async (query) => {
    await lockActs({ ...database, query })
    return work(query)
  })
}

/** Until the transaction ends, no act runs. The lock belongs to the transaction, so it also works behind a pooler. */
export async function lockActs({ kind, query }: Pick<Database, 'kind' | 'query'>): Promise<void> {
  // SQLite has one transaction at a time.
  if (kind === 'postgres') await sql`select pg_advisory_xact_lock(hashtext('tokenwell_acts'))`.execute(query)
}

/** A condition that is always true: a statement with it that is its own transaction is durable, regardless of the server's default. */
export function durably({ kind }: Pick<Database, 'kind'>): RawBuilder<boolean> {
  return kind === 'sqlite' ? sql`true` : sql`set_config('synchronous_commit', 'on', true) = 'on'`
}

/** Until the transaction ends, nobody else changes secrets. */
export async function lockSecrets({ kind, query }: Pick<Database, 'kind' | 'query'>): Promise<void> {
  if (kind === 'postgres') await sql`lock table secrets in share row exclusive mode`.execute(query)
}

/**
 * A statement of every token request. Its text is built once; PostgreSQL prepares it once, so its columns must be named:
 * those of `*` could change when another instance migrates.
 *
 * @param build creates it for one parameter, a list of rows
 */
export function frequentStatement<Row>(
  database: Database,
  build: (rows: JsonRows) => Compilable<Row>,
): (rows: readonly (readonly unknown[])[]) => Promise<Row[]> {
  const compiled = build(jsonRows(database, [])).compile()
  database.frequent.add(compiled.sql)
  return async (rows) => {
    const { rows: result } = await database.query.executeQuery<Row>({
      ...compiled,
      parameters: [JSON.stringify(rows)],
    })
    return result
  }
}

export type JsonRows = RawBuilder<unknown>

/**
 * A table with one column, `value`, that holds each of the given JSON arrays; read its members with `value->>0`.
 * It is one parameter: the text of a statement does not change with the number of its rows.
 */
function jsonRows({ kind }: Pick<Database, 'kind'>, rows: readonly (readonly unknown[])[]): JsonRows {
  const json = JSON.stringify(rows)
  return kind === 'sqlite' ? sql`json_each(${json})` : sql`json_array_elements(${json}::json)`
}

/** The given texts as a subquery, for `where … in`. */
export function anyOf(database: Database, values: readonly string[]): RawBuilder<string> {
  return firstOf(
    jsonRows(
      database,
      values.map((value) => [value]),
    ),
  )
}

/** The first members of these rows as a subquery. */
export function firstOf(rows: JsonRows): RawBuilder<string> {
  return sql<string>`(select value->>0 from ${rows})`
}

/** Runs deletions, and returns how many rows they deleted in all. */
export async function countDeleted(
  ...deletions: readonly { executeTakeFirstOrThrow(): Promise<{ readonly numDeletedRows: bigint }> }[]
): Promise<number> {
  const results = await Promise.all(deletions.map((deletion) => deletion.executeTakeFirstOrThrow()))
  return results.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0)
}
