import { once } from 'node:events'
import { lstat, rename } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'

const SIGN = 'alive'
const LONGEST_ADDRESS = 103 // bytes that every system takes as the path of a socket; some cut the rest off

/**
 * Shows in a folder that its process lives: by a socket that is listened on until the process ends, in whichever way.
 * A process id would become another's, and means something else in each container.
 *
 * @returns what takes it back
 */
export async function showLife(folder: string): Promise<() => void> {
  const sign = join(folder, SIGN)
  if (Buffer.byteLength(sign) > LONGEST_ADDRESS) return () => {}
  const server = createServer((visitor) => visitor.destroy()).unref()
  const path = join(folder, 'new')
  server.listen({ path, exclusive: true }) // by this very process, also if it is a worker of a cluster
  await once(server, 'listening')
  server.on('error', () => {}) // a visitor that could not be let in has seen enough
  // Not under its name before, for until then it looks as if its process had ended.
  await rename(path, sign)
  return () => void server.close()
}

/** Whether a process of this user has shown life in a folder and has ended since. */
export async function isLifeless(folder: string): Promise<boolean> {
  const sign = join(folder, SIGN)
  const found = await lstat(folder)
  // A link may lead anywhere.
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return false
  // What is no socket refuses connections as well.
  if (!(await lstat(sign)).isSocket()) return false
  const visitor = connect(sign)
  try {
    await once(visitor, 'connect')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  } finally {
    visitor.destroy()
  }
}
