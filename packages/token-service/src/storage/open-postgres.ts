import type { Dialect } from 'kysely'
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../runtime/usage-error.ts'
import { type OpenDatabase, createDatabase, createProbe } from './database.ts'
import { type OpenOptions, migrate } from './migrate.ts'
import { createPool, LimitedPostgresDialect } from './postgres-connections.ts'
import { StorageFailure, reportFailures, rootReason } from './storage-failure.ts'

const firstDelayMs = 500
const longestDelayMs = 15_000

/**
 * Opens the PostgreSQL database at a URL and migrates it. If the server cannot be reached, it is returned too,
 * and connects in the background: until then every call rejects.
 */
export async function openPostgres(url: string, options: OpenOptions): Promise<OpenDatabase> {
  const { onError, prepare } = options
  const frequent = new Set<string>()
  const pool = createPool(url, frequent, onError)
  let unavailable: unknown
  const spec = { kind: 'postgres', name: nameOf(url) } as const
  const databaseOf = (dialect: Dialect) => createDatabase(spec, dialect, frequent)
  const dialect = new LimitedPostgresDialect(pool)
  const connect = async () => {
    try {
      // An error of a migration is reported as it is.
      await migrate(createDatabase(spec, dialect), options)
      await prepare(databaseOf(reportFailures(dialect)))
      unavailable = undefined
    } catch (error) {
      if (error instanceof UsageError) throw error
      const message = `${spec.name} cannot be used: ${rootReason(error)}.`
      throw isOutage(error) ? new Outage(message) : new Unusable(message)
    }
  }
  const database = databaseOf(reportFailures(dialect, () => unavailable))
  const open: OpenDatabase = {
    database,
    opened: Promise.resolve(),
    probe: createProbe(database),
    // The server does it.
    compact: async () => {},
    close: () => pool.end(),
  }
  try {
    await connect()
    return open
  } catch (error) {
    unavailable = error
    if (error instanceof Outage) {
      const retry = () =>
        connect().catch((reason: unknown) => {
          unavailable = reason
          throw reason
        })
      return connectInBackground(open, retry, error, onError)
    }
    await open.close()
    throw error
  }
}

/** The database while its server cannot be reached, and afterwards. */
function connectInBackground(
  open: OpenDatabase,
  connect: () => Promise<void>,
  firstFailure: Outage,
  onError: OpenOptions['onError'],
): OpenDatabase {
  const closing = new AbortController()

  async function keepTrying(): Promise<void> {
    let failure: unknown = firstFailure
    for (let waitMs = firstDelayMs; ; waitMs = Math.min(waitMs * 2, longestDelayMs)) {
      onError(failure)
      await delay(waitMs, undefined, { ref: false, signal: closing.signal })
      try {
        return await connect()
      } catch (error) {
        failure = error
        if (isFinal(error)) {
          onError(error)
          throw error
        }
      }
    }
  }

  const trying = keepTrying()
  const opened = new Promise<void>((resolve, reject) => {
    // When the database is closed before, it remains pending.
    trying.then(resolve, (error: unknown) => isFinal(error) && reject(error as Error))
  })
  opened.catch(() => {})
  return {
    ...open,
    opened,
    async close() {
      closing.abort()
      await open.close()
      await trying.catch(() => {})
    },
  }
}

/** The server cannot be reached, but that may change without a new configuration. */
class Outage extends Error {}

/** The server rejects what it should do, which its administrators can change while it runs. */
class Unusable extends UsageError {}

/** Only another version, another configuration or another database can help. */
function isFinal(error: unknown): boolean {
  return error instanceof UsageError && !(error instanceof Unusable)
}

function isOutage(error: unknown): boolean {
  if (error instanceof StorageFailure) return true
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  // Node's own codes; SQLSTATE classes 08 (connection), 53 (resources) and 57 (intervention), a transaction that is read-only or timed out
  // (25006, 25P03) and a lock that another instance keeps (55P03); pg has no codes for timeouts.
  return /^(E[A-Z]|08|25006|25P03|53|55P03|57)/.test(code) || /timeout|terminated/i.test(error.message)
}

/** As messages name it: without the password. */
export function nameOf(url: string): string {
  const { protocol, host, pathname } = new URL(url)
  return `The database at ${protocol}//${host}${pathname}`
}
