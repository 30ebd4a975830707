import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import {
  CompiledQuery,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDatabase,
  type SqliteDialectConfig,
  type SqliteStatement,
} from 'kysely'
import { isBusy } from './sqlite-file.ts'

/** Kysely's SQLite dialect on Node's own SQLite. */
export class NodeSqliteDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig

  constructor(sqlite: DatabaseSync) {
    const config = { database: kyselyDatabase(sqlite) }
    super(config)
    this.#config = config
  }

  override createDriver(): SqliteDriver {
    return new NodeSqliteDriver(this.#config)
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalSqliteAdapter()
  }
}

class NodeSqliteDriver extends SqliteDriver {
  #connection: DatabaseConnection | undefined

  override async acquireConnection(): Promise<DatabaseConnection> {
    return (this.#connection ??= withPatience(await super.acquireConnection()))
  }

  /** With the lock to write at once: the statements of a transaction never find it taken. */
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }

  /** After some errors, such as a full disk, SQLite itself has rolled back already; then this fails. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}

function withPatience(connection: DatabaseConnection): DatabaseConnection {
  return {
    executeQuery: (query, options) => whileBusy(() => connection.executeQuery(query, options)),
    streamQuery: (query, chunkSize, options) => connection.streamQuery(query, chunkSize, options),
  }
}

const longestWaitMs = 500

/**
 * Runs something again while another process, such as a backup, has locked the database. A `busy_timeout` of SQLite would stop every
 * request of this process meanwhile.
 */
export async function whileBusy<Result>(run: () => Result | Promise<Result>): Promise<Result> {
  for (const sinceMs = performance.now(); ; await delay(5 + Math.random() * 45)) {
    try {
      return await run()
    } catch (error) {
      if (!isBusy(error) || performance.now() - sinceMs > longestWaitMs) throw error
    }
  }
}

/** Runs all migrations in one transaction, which SQLite supports. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

const maxStatements = 100

/**
 * A whole number that is too large for JavaScript becomes the nearest one, as with PostgreSQL: it does not hide the other rows.
 * What enters is bounded, but a database can also be changed by hand.
 */
function readAll(statement: StatementSync, parameters: readonly SQLInputValue[]): unknown[] {
  try {
    return statement.all(...parameters)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== 'ERR_OUT_OF_RANGE') throw error
    statement.setReadBigInts(true)
    try {
      return statement.all(...parameters).map((row) => {
        const columns = Object.entries(row as object).map(([name, value]: [string, unknown]) => [
          name,
          typeof value === 'bigint' ? Number(value) : value,
        ])
        return Object.fromEntries(columns) as unknown
      })
    } finally {
      statement.setReadBigInts(false)
    }
  }
}

function kyselyDatabase(sqlite: DatabaseSync): SqliteDatabase {
  // Statements for requests have the same text each time: they are prepared once.
  const statements = new Map<string, SqliteStatement>()
  return {
    close: () => sqlite.close(),
    prepare(text) {
      const prepared = statements.get(text)
      if (prepared) return prepared
      const statement = sqlite.prepare(text)
      const changes = /\breturning\b/i.test(text)
      const added: SqliteStatement = {
        reader: changes || /^\s*(select|with|pragma)\b/i.test(text),
        all: (parameters) =>
          changes
            ? statement.all(...(parameters as SQLInputValue[]))
            : readAll(statement, parameters as SQLInputValue[]),
        run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
        iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
      }
      if (statements.size >= maxStatements) statements.clear()
      statements.set(text, added)
      return added
    },
  }
}
