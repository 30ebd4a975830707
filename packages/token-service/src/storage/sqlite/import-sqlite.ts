import type * as Sqlite from 'node:sqlite'
import { UsageError } from '../../runtime/usage-error.ts'

/** Node's own SQLite, loaded on first use: older versions of Node lack it, and Node 22 warns when it is loaded. */
export async function importSqlite(): Promise<typeof Sqlite> {
  try {
    return await import('node:sqlite')
  } catch (error) {
    throw new UsageError(`The token service requires Node 22.13 or later; this is ${process.version}.`, {
      cause: error,
    })
  }
}
