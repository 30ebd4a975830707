import { once } from 'node:events'
import { lstat, rename } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'

const SOCKET = 'owner.sock'
const MAX_PATH_BYTES = 103 // longer socket paths are rejected or cut off by some systems

/**
 * Marks a folder as in use with a socket that this process listens on: it stops listening when the process exits, for
 * any reason. A process ID would be reused, and means something else in each container.
 *
 * @returns a function that removes the mark
 */
export async function openLivenessSocket(folder: string): Promise<() => void> {
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
export async function isAbandoned(folder: string): Promise<boolean> {
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
