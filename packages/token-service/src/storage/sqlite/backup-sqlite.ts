import { existsSync } from 'node:fs'
import { UsageError } from '../../runtime/usage-error.ts'
import { rootReason } from '../storage-failure.ts'
import { vacuumInto } from './vacuum-into.ts'

/** Copies a database to the new file `to`, even while a service, in this process or in another one, uses it. */
export async function backupSqlite(file: string, to: string): Promise<void> {
  if (existsSync(to)) throw new UsageError(`${to} already exists. Choose a new file for the backup.`)
  if (!existsSync(file))
    throw new UsageError(`The database file ${file} does not exist. Check the setting "storage".`)
  await vacuumInto(file, to).catch((error: unknown) => {
    throw new UsageError(`Could not write the backup ${to}: ${rootReason(error)}.`)
  })
}
