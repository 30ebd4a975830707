import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import { UsageError } from '../runtime/usage-error.ts'

/** An operation of the storage failed; the message contains the reason, never a value. */
export class StorageFailure extends Error {
  constructor(cause: unknown) {
    super(`The storage failed: ${rootReason(cause)}`)
    this.name = 'StorageFailure'
  }
}

/** More is waiting than can be done in time. */
export class Overloaded extends Error {
  readonly retryAfterSeconds = 1

  constructor() {
    super('The service is overloaded. Try again in a second.')
    this.name = 'Overloaded'
  }
}

/**
 * Makes every error of a database's driver a {@link StorageFailure}.
 *
 * @param unavailable the reason why the database cannot be used yet, if there is one
 */
export function reportFailures(dialect: Dialect, unavailable: () => unknown = () => undefined): Dialect {
  return {
    createAdapter: () => dialect.createAdapter(),
    createIntrospector: (query) => dialect.createIntrospector(query),
    createQueryCompiler: () => dialect.createQueryCompiler(),
    createDriver: () => reportingDriver(dialect.createDriver(), unavailable),
  }
}

function reportingDriver(driver: Driver, unavailable: () => unknown): Driver {
  const reporting = new WeakSet<DatabaseConnection>()
  const acquire = driver.acquireConnection.bind(driver)
  driver.acquireConnection = async (options) => {
    const reason = unavailable()
    if (reason !== undefined) throw new StorageFailure(reason)
    const connection = await acquire(options).catch(report)
    if (!reporting.has(connection)) {
      const execute = connection.executeQuery.bind(connection)
      connection.executeQuery = <Row>(query: CompiledQuery) =>
        execute(query).catch(report) as Promise<QueryResult<Row>>
      reporting.add(connection)
    }
    return connection
  }
  return driver
}

/** Throws the error of something that belongs to the storage as a {@link StorageFailure}. */
export function report(error: unknown): never {
  throw error instanceof StorageFailure || error instanceof Overloaded || error instanceof UsageError
    ? error
    : new StorageFailure(error)
}

/** The driver's own message: those of the layers above it quote the whole statement. */
export function rootReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown reason'
  if (error.cause !== undefined) return rootReason(error.cause)
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** The database has a schema that this version can neither use nor upgrade. */
export class SchemaMismatch extends UsageError {}
