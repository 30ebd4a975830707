import { once } from 'node:events'
import { type FileHandle, lstat, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { tmpdir } from 'node:os'

const SOCKET = 'owner.sock'
const MAX_PATH_BYTES = 103 // longer socket paths are rejected or cut off by some systems

/**
 * Marks a folder as in use with a socket that this process listens on: it stops listening when the process exits, for
 * any reason. A process ID would be reused, and means something else in each container.
 *
 * @returns a function that removes the mark
 */
async function openLivenessSocket(folder: string): Promise<() => void> {
  const socket = join(folder, SOCKET)
  if (Buffer.byteLength(socket) > MAX_PATH_BYTES) return () => {}
  const server = createServer((connection) => connection.destroy()).unref()
  const path = join(folder, 'new')
  server.listen({ path, exclusive: true }) // in this process, even if it is a cluster worker
  await once(server, 'listening')
  server.on('error', () => {}) // a connection that could not be accepted has still found the socket
  // Renamed only now: a socket that nobody listens on yet would look like that of a process that has exited.
  await rename(path, socket)
  return () => void server.close()
}

/** Whether the process of this user that marked the folder has exited. */
async function isAbandoned(folder: string): Promise<boolean> {
  const socket = join(folder, SOCKET)
  const found = await lstat(folder)
  // A symbolic link could lead anywhere.
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return false
  // Connecting to a regular file fails as well.
  if (!(await lstat(socket)).isSocket()) return false
  const connection = connect(socket)
  try {
    await once(connection, 'connect')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  } finally {
    connection.destroy()
  }
}

export interface TemporaryFile extends AsyncDisposable {
  readonly path: string
}

const PREFIX = 'speech-api-'
const FILE = 'recording.wav'

/** Creates a file in a folder that only this user can enter. It is removed on disposal, and if `write` fails. */
export async function createTemporaryFile(
  write: (file: FileHandle) => Promise<unknown>,
): Promise<TemporaryFile> {
  const folder = await mkdtemp(join(tmpdir(), PREFIX))
  // Without the socket the folder works too, but is never removed if this process is killed.
  const closeSocket = await openLivenessSocket(folder).catch(() => () => {})
  const dispose = async () => {
    await removeFolder(folder).finally(closeSocket)
  }
  try {
    const path = join(folder, FILE)
    await using file = await open(path, 'wx')
    await write(file)
    return { path, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Removes the temporary files of processes that were killed. */
export async function removeStaleFiles(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names.filter((name) => name.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name)
    try {
      if (await isAbandoned(folder)) await removeFolder(folder)
    } catch {
      // Not a folder of this program, or another starting process has removed it.
    }
  }
}

async function removeFolder(folder: string): Promise<void> {
  // The recording first: if this process is killed in between, the socket still shows whose folder it is.
  await rm(join(folder, FILE), { force: true })
  await rm(folder, { recursive: true, force: true })
}
