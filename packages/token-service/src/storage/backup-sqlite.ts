import { existsSync, rmSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { UsageError } from '../runtime/usage-error.ts'
import { rootReason } from './storage-failure.ts'
import { lockDatabase, importSqlite } from './sqlite-file.ts'
import { open, rename, rm } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

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

// SQLite's calls block their thread, and this one takes seconds for a large database.
const worker = `
const { workerData: [from, to] } = require('node:worker_threads')
const { DatabaseSync } = require('node:sqlite')
const database = new DatabaseSync(from, { readOnly: true })
database.exec('pragma busy_timeout = 5000')
database.prepare('vacuum into ?').run(to)
database.close()`

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Writes a consistent copy of a database that may be in use to the new file `to`: the whole copy, or no file. */
async function vacuumInto(from: string, to: string): Promise<void> {
  const unfinished = `${to}.unfinished`
  // Left by a process that got SIGKILL.
  await rm(unfinished, { force: true })
  const remove = (signal: NodeJS.Signals) => {
    rmSync(unfinished, { force: true })
    process.kill(process.pid, signal)
  }
  for (const signal of signals) process.once(signal, remove)
  // SQLite fills an empty file that exists: this one is readable by its owner only.
  await (await open(unfinished, 'wx', 0o600)).close()
  try {
    await new Promise<void>((resolve, reject) => {
      new Worker(worker, { eval: true, workerData: [from, unfinished] })
        .once('error', reject)
        .once('exit', () => resolve())
    })
    await rename(unfinished, to)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw error
  } finally {
    for (const signal of signals) process.off(signal, remove)
  }
}
