import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  type Stats,
} from 'node:fs'

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
export function readPrivateFile(path: string): Buffer {
  return withFile(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, (file) => {
    const stats = fstatSync(file)
    checkPrivate(stats, stats.isFile())
    // Too large for an entry: as damaged as an empty file, which is replaced.
    return stats.size > maxBytes ? Buffer.alloc(0) : readFileSync(file)
  })
}

/** Creates a file that only its owner can use. Its content is on disk when the function returns. */
export function createPrivateFile(path: string, content: Uint8Array): void {
  withFile(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, (file) => {
    writeFileSync(file, content)
    fsyncSync(file)
  })
}

/** Flushes changes to a folder's entries to disk, where the system supports it. */
export function syncFolder(path: string): void {
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
