import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'

const busy = 5
const attempts = 40

/**
 * Locks a file for this process through SQLite, which uses the operating system's locks: they are released when the process
 * exits in any way, and work across containers that share a file system. Returns `undefined` if the file is locked.
 * The file stays: deleting it could take the lock from the process that just got it.
 */
export async function lockFile(
  file: string,
  Database: typeof DatabaseSync,
): Promise<(() => void) | undefined> {
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

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === busy
}
