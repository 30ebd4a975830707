import { open, statfs } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { UsageError } from '../runtime/usage-error.ts'
import { createDatabase, createProbe, type Database, type OpenDatabase } from './database.ts'
import { migrate, type MigrationContext } from './migrate.ts'
import { report, reportFailures, rootReason } from './storage-failure.ts'
import { lockDatabase, importSqlite } from './sqlite-file.ts'
import { NodeSqliteDialect, whileBusy } from './sqlite-dialect.ts'

const leastSpace = 1024 * 1024

/** Opens a database that is gone when it is closed. */
export async function openMemory(context: MigrationContext): Promise<OpenDatabase> {
  const { DatabaseSync } = await importSqlite()
  const database = await createSqliteDatabase('The database in memory', new DatabaseSync(':memory:'), context)
  return {
    database,
    opened: Promise.resolve(),
    probe: createProbe(database),
    compact: async () => {},
    close: () => database.query.destroy(),
  }
}

/** Opens the SQLite database in `file`, created if it does not exist, for this process only. */
export async function openSqlite(file: string, context: MigrationContext): Promise<OpenDatabase> {
  const { DatabaseSync } = await importSqlite()
  const { path, unlock } = await lockDatabase(file, DatabaseSync)
  let sqlite: DatabaseSync | undefined
  try {
    // Only the owner may read the database; SQLite creates its other files with the same mode.
    await (await open(path, 'a', 0o600)).close()
    const opened = (sqlite = new DatabaseSync(path))
    configure(opened)
    const database = await createSqliteDatabase(`The database file ${file}`, opened, context)
    return {
      database,
      opened: Promise.resolve(),
      probe: createProbe(database, () => checkSpace(path)),
      compact: () => compact(database, opened).catch(report),
      async close() {
        await database.query.destroy()
        unlock()
      },
    }
  } catch (error) {
    sqlite?.close()
    unlock()
    if (error instanceof UsageError) throw error
    throw new UsageError(`The database file ${file} cannot be used: ${rootReason(error)}.`)
  }
}

async function createSqliteDatabase(
  name: string,
  sqlite: DatabaseSync,
  context: MigrationContext,
): Promise<Database> {
  const dialect = new NodeSqliteDialect(sqlite)
  // An error of a migration is reported as it is.
  await migrate(createDatabase({ kind: 'sqlite', name }, dialect), context)
  return createDatabase({ kind: 'sqlite', name }, reportFailures(dialect))
}

/** A commit returns once the log is synced. Pages that a purge frees can be returned to the file system. */
function configure(sqlite: DatabaseSync): void {
  // Has an effect in a new file only, and there before anything else is written.
  sqlite.exec('pragma auto_vacuum = incremental')
  sqlite.exec('pragma journal_mode = wal')
  sqlite.exec('pragma synchronous = full')
  sqlite.exec('pragma cache_size = -16384')
}

/** A probe is small: on a disk that is nearly full it fits when a group of tokens does not. */
async function checkSpace(path: string): Promise<void> {
  const { bavail, bsize } = await statfs(path)
  if (bavail * bsize < leastSpace) throw new Error('the disk is full')
}

/** Returns free pages to the file system, a few at a time, so that requests are served in between. */
async function compact({ query }: Database, sqlite: DatabaseSync): Promise<void> {
  const run = <Result>(step: () => Result) => query.connection().execute(() => whileBusy(step))
  for (let before = Infinity; ; await nextTurn()) {
    const free = await run(() => {
      sqlite.exec('pragma incremental_vacuum(100)')
      return Number(sqlite.prepare('pragma freelist_count').get()?.['freelist_count'])
    })
    if (free === 0 || free >= before) break
    before = free
  }
  await run(() => sqlite.exec('pragma wal_checkpoint(truncate)'))
}
