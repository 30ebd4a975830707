import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import {
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  type DatabaseConnection,
  type SqliteDatabase,
  type SqliteDialectConfig,
  type SqliteStatement,
} from 'kysely'

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
  /** After some errors, such as a full disk, SQLite itself has rolled back already; then this fails. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(connection).catch(() => {})
  }
}

/** Runs all migrations in one transaction, which SQLite supports. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

const maxStatements = 100

function kyselyDatabase(sqlite: DatabaseSync): SqliteDatabase {
  // Statements for requests have the same text each time: they are prepared once.
  const statements = new Map<string, SqliteStatement>()
  return {
    close: () => sqlite.close(),
    prepare(text) {
      const prepared = statements.get(text)
      if (prepared) return prepared
      const statement = sqlite.prepare(text)
      const added: SqliteStatement = {
        reader: /^\s*(select|with|pragma)\b|\breturning\b/i.test(text),
        all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
        run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
        iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
      }
      if (statements.size >= maxStatements) statements.clear()
      statements.set(text, added)
      return added
    },
  }
}
