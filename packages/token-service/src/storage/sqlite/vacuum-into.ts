import { rmSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'

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
export async function vacuumInto(from: string, to: string): Promise<void> {
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
