import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely'
import { UsageError } from '../runtime/usage-error.ts'

/** An operation of the storage failed; the message contains the reason, never a value. */
export class StorageFailure extends Error {
  /** Whether the database rejected a value, such as a number that is too large, and works otherwise. */
  readonly isOfValue: boolean

  constructor(cause: unknown) {
    super(`The storage failed: ${rootReason(cause)}`)
    this.name = 'StorageFailure'
    this.isOfValue = rejectsValue(cause)
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

/** Classes of SQLSTATE: a value that is invalid, that violates a constraint, or is larger than an index holds. */
const valueStates = /^(22|23|54)/
/** SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_RANGE */
const valueCodes = [18, 19, 20, 25]

function rejectsValue(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.cause !== undefined) return rejectsValue(error.cause)
  const { code = '', errcode = 0 } = error as { readonly code?: unknown; readonly errcode?: number }
  // Node reports numbers that it cannot read, and values that it cannot bind.
  if (code === 'ERR_OUT_OF_RANGE' || code === 'ERR_INVALID_ARG_TYPE') return true
  return code === 'ERR_SQLITE_ERROR' ? valueCodes.includes(errcode & 0xff) : valueStates.test(String(code))
}

/** Whether a statement failed because of a value: what the database rejected, or what could not be read of a row. */
export function isOfValue(error: unknown): boolean {
  if (error instanceof StorageFailure) return error.isOfValue
  return error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError
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
