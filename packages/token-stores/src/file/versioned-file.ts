import { randomUUID } from 'node:crypto'
import { linkSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkPrivateFolder,
  createPrivateFile,
  createPrivateFolder,
  readPrivateFile,
  syncFolder,
} from './private-files.ts'

const versionName = /^[1-9]\d{0,14}$/
const temporaryName = /^[\w-]{36}\.tmp$/

/** The latest version; number 0, without content, if there is none. */
export interface Version {
  readonly number: number
  readonly content?: Buffer
}

/**
 * Reads the latest version of a file that is kept as a folder of numbered versions. Node has no file locks: versions
 * make an atomic compare-and-swap out of `link`, which fails if its target exists, so a killed process leaves no lock
 * behind.
 */
export function readLatestVersion(folder: string): Version {
  for (;;) {
    try {
      checkPrivateFolder(folder)
      const number = latestOf(readdirSync(folder))
      return number === 0 ? { number } : { number, content: readPrivateFile(join(folder, String(number))) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      // Another process replaced the version in the meantime, or there is none.
      if (isMissing(folder)) return { number: 0 }
    }
  }
}

/**
 * Writes the version after `number` atomically and removes the older ones.
 *
 * @returns false if another process has written it first
 */
export function writeNextVersion(folder: string, number: number, content: Uint8Array): boolean {
  createPrivateFolder(folder)
  const temporary = join(folder, `${randomUUID()}.tmp`)
  const next = join(folder, String(number + 1))
  try {
    createPrivateFile(temporary, content)
    linkSync(temporary, next)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    remove(temporary)
  }
  const names = readdirSync(folder)
  if (latestOf(names) > number + 1) {
    // This process was suspended for so long that others removed the version it was based on.
    remove(next)
    return false
  }
  for (const name of names) {
    if (versionName.test(name) ? Number(name) <= number : isAbandoned(folder, name))
      remove(join(folder, name))
  }
  syncFolder(folder)
  return true
}

/** Removes all versions, and nothing else. */
export function removeAllVersions(folder: string): void {
  checkPrivateFolder(folder)
  for (const name of readdirSync(folder)) {
    if (versionName.test(name) || temporaryName.test(name)) remove(join(folder, name))
  }
  try {
    rmdirSync(folder)
  } catch {
    // Something else is in it.
  }
}

function latestOf(names: readonly string[]): number {
  return Math.max(0, ...names.filter((name) => versionName.test(name)).map(Number))
}

/** Whether this is a temporary file that a killed process left behind. */
function isAbandoned(folder: string, name: string): boolean {
  const stats = temporaryName.test(name) && lstatSync(join(folder, name), { throwIfNoEntry: false })
  return stats ? Date.now() - stats.mtimeMs > 60_000 : false
}

function isMissing(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined
}

/** Another process may have removed it. */
function remove(path: string): void {
  rmSync(path, { force: true })
}
