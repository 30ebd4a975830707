import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../src/runtime/clock.ts'
import { createKeyring } from '../../src/runtime/keyring.ts'
import { createActQueue } from '../../src/storage/act-queue.ts'
import { createPerform, type Perform, type PerformContext } from '../../src/storage/act.ts'
import { openPostgres } from '../../src/storage/open-postgres.ts'
import { createPool, LimitedPostgresDialect } from '../../src/storage/postgres-connections.ts'
import { createDatabase, oneAfterAnother, type Database } from '../../src/storage/database.ts'
import { openMemory, openSqlite } from '../../src/storage/open-sqlite.ts'
import { NodeSqliteDialect } from '../../src/storage/sqlite-dialect.ts'
import { createStorage, type Storage } from '../../src/features/context.ts'

/** What the audit logs of the test storages are signed with. */
export const testKeyring = createKeyring(['test key '.repeat(4)])

const context = { keyring: testKeyring, clock: systemClock }

/** Runs acts on a test storage. */
export function performOn(
  { database }: Pick<Storage, 'database'>,
  { clock = systemClock, keyring = testKeyring, onCommitted = () => {} }: Partial<PerformContext> = {},
): Perform {
  return createPerform({
    database,
    queue: createActQueue(),
    keyring,
    clock,
    onCommitted,
  })
}

/** A database in memory, without tables. */
export function createSqliteTestDatabase(file = ':memory:'): Database {
  return createDatabase(
    { kind: 'sqlite', name: 'The test database' },
    new NodeSqliteDialect(new DatabaseSync(file)),
  )
}

/** A PostgreSQL database that is connected to. */
export function createPostgresTestDatabase(url: string): Database {
  const pool = createPool(url, new Set(), () => {})
  return createDatabase({ kind: 'postgres', name: 'The test database' }, new LimitedPostgresDialect(pool))
}

/** Runs work in one transaction. */
export function inTestTransaction<Result>(
  { database }: Pick<Storage, 'database'>,
  work: (transaction: Database) => Promise<Result>,
): Promise<Result> {
  return oneAfterAnother(database, (query) => work({ ...database, query }))
}

export const openTestOptions = { ...context, onError: () => {}, prepare: async () => {} }

export const openTestMemory = (): Promise<Storage> => openMemory(context).then(createStorage)

export const openTestSqlite = (file: string): Promise<Storage> =>
  openSqlite(file, context).then(createStorage)

export const openTestPostgres = (url: string): Promise<Storage> =>
  openPostgres(url, openTestOptions).then(createStorage)
