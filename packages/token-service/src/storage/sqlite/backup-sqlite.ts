import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { DatabaseSync } from 'node:sqlite'
import { UsageError } from '../../runtime/usage-error.ts'
import { rootReason } from '../storage-failure.ts'
import { vacuumInto } from './vacuum-into.ts'
import { lockDatabase, importSqlite } from './database-file.ts'

/** Copies a database to the new file `to`, even while a service, in this process or in another one, uses it. */
export async function backupSqlite(file: string, to: string): Promise<void> {
  if (existsSync(to)) throw new UsageError(`${to} already exists. Choose a new file for the backup.`)
  if (!existsSync(file))
    throw new UsageError(`The database file ${file} does not exist. Check the setting "storage".`)
  await vacuumInto(file, to).catch((error: unknown) => {
    throw new UsageError(`Could not write the backup ${to}: ${rootReason(error)}.`)
  })
}

/** Copies a backup to `file`, which must not exist: a database is never overwritten. */
export async function restoreSqlite(backup: string, file: string): Promise<void> {
  const { DatabaseSync } = await importSqlite()
  const { path, unlock } = await lockDatabase(file, DatabaseSync)
  try {
    if (existsSync(path)) throw new UsageError(`${file} already exists. Move it before you restore a backup.`)
    checkBackup(backup, DatabaseSync)
    // They belong to a database that was here before, and would damage this one.
    for (const rest of ['-wal', '-shm']) await rm(`${path}${rest}`, { force: true })
    await vacuumInto(backup, path)
  } finally {
    unlock()
  }
}

/** @throws {@link UsageError} if it is damaged, or no database of the service */
export function checkBackup(backup: string, Database: typeof DatabaseSync): void {
  let problem: string | undefined
  try {
    const database = new Database(backup, { readOnly: true })
    try {
      database.prepare('select count(*) from tokenwell_schema').get()
      const result = database.prepare('pragma quick_check(1)').get()?.['quick_check']
      if (result !== 'ok') problem = String(result)
    } finally {
      database.close()
    }
  } catch (error) {
    problem = rootReason(error)
  }
  if (problem !== undefined) throw new UsageError(`${backup} is not a usable backup: ${problem}.`)
}
