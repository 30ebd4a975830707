import { mkdtemp, open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAbandoned, openLivenessSocket } from './liveness-socket.ts'

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
