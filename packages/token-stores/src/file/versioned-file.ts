import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'

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

const { O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = constants
// Not defined on Windows.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>

const maxBytes = 4 * 1024 ** 2

/** Creates a folder, and its parents, that only its owner can use. */
export function createPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  checkPrivateFolder(path)
}

/** @throws if the path is a symbolic link or if anyone else can use the folder */
export function checkPrivateFolder(path: string): void {
  const stats = lstatSync(path)
  checkPrivate(stats, stats.isDirectory())
}

/** @throws if the path is a symbolic link or if anyone else can use the file */
function readPrivateFile(path: string): Buffer {
  return withFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, (file) => {
    const stats = fstatSync(file)
    checkPrivate(stats, stats.isFile())
    // Too large for an entry: as damaged as an empty file, which is replaced.
    return stats.size > maxBytes ? Buffer.alloc(0) : readFileSync(file)
  })
}

/** Creates a file that only its owner can use. Its content is on disk when the function returns. */
function createPrivateFile(path: string, content: Uint8Array): void {
  withFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (file) => {
    writeFileSync(file, content)
    fsyncSync(file)
  })
}

/** Flushes changes to a folder's entries to disk, where the system supports it. */
function syncFolder(path: string): void {
  if (process.platform !== 'win32') withFile(path, O_RDONLY | O_NOFOLLOW, fsyncSync)
}

/** An error with a code that appears in events. */
function storeError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

function withFile<Result>(path: string, flags: number, use: (file: number) => Result): Result {
  const file = openSync(path, flags, 0o600)
  try {
    return use(file)
  } finally {
    closeSync(file)
  }
}

/** Windows has neither user IDs nor these permissions. */
function checkPrivate({ uid, mode }: Stats, isExpectedKind: boolean): void {
  if (!isExpectedKind) throw storeError('unexpected_file', 'Not a file or folder of the token store')
  if (process.getuid === undefined) return
  if (uid !== process.getuid()) throw storeError('foreign_file', 'The file belongs to another user')
  if ((mode & 0o077) !== 0) throw storeError('not_private', 'Other users have access to the file')
}
