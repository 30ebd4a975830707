import type * as Sqlite from 'node:sqlite'
import { existsSync, realpathSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { UsageError } from '../runtime/usage-error.ts'

/**
 * Locks the database in `file` for this process. Its folder is created if it does not exist.
 *
 * @throws {@link UsageError} if another process has locked it, or if something else is at that path
 */
export async function lockDatabase(
  file: string,
  Database: typeof Sqlite.DatabaseSync,
): Promise<{ path: string; unlock: () => void }> {
  const folder = dirname(file)
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
    throw new UsageError(`${file} is a folder. SQLite storage requires the path of a file.`)
  }
  await mkdir(folder, { recursive: true, mode: 0o700 })
  // The same lock for every link and relative path to the file.
  const path = existsSync(file) ? realpathSync(file) : join(realpathSync(folder), basename(file))
  const unlock = await lockFile(`${path}.lock`, Database)
  if (unlock) return { path, unlock }
  throw new UsageError(
    `The database file ${file} is in use by another process. Stop that process, or use PostgreSQL to run several instances.`,
  )
}

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

const busy = 5
const attempts = 40

/**
 * Locks a file for this process through SQLite, which uses the operating system's locks: they are released when the process
 * exits in any way, and work across containers that share a file system. Returns `undefined` if the file is locked.
 * The file stays: deleting it could take the lock from the process that just got it.
 */
async function lockFile(file: string, Database: typeof DatabaseSync): Promise<(() => void) | undefined> {
  const lock = new Database(file)
  // Processes that start at the same time can get in each other's way, hence the attempts.
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    try {
      // Nothing is ever written: no journal file is needed.
      lock.exec('pragma journal_mode = memory')
      lock.exec('begin exclusive')
      return () => lock.close()
    } catch (error) {
      if (!isBusy(error)) {
        lock.close()
        throw error
      }
    }
    await delay(Math.random() * 50)
  }
  lock.close()
  return undefined
}

export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === busy
}
