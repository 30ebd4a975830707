import { mkdtemp, open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isLifeless, showLife } from './life-sign.ts'

export interface TemporaryFile extends AsyncDisposable {
  readonly path: string
}

const PREFIX = 'speech-api-'
const FILE = 'recording.wav'

/** A file in a folder of its own that nobody else may enter; removed when it is disposed of, and if writing it fails. */
export async function createTemporaryFile(
  write: (file: FileHandle) => Promise<unknown>,
): Promise<TemporaryFile> {
  const folder = await mkdtemp(join(tmpdir(), PREFIX))
  // Without it the folder is as good, but stays for good if this process is killed.
  const takeLifeBack = await showLife(folder).catch(() => () => {})
  const dispose = async () => {
    await removeFolder(folder).finally(takeLifeBack)
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

/** Removes what processes that were killed have left of their temporary files, and nothing else. */
export async function removeLeftFiles(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  for (const name of names.filter((name) => name.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name)
    try {
      if (await isLifeless(folder)) await removeFolder(folder)
    } catch {
      // It is none of these, or another process that starts is faster.
    }
  }
}

async function removeFolder(folder: string): Promise<void> {
  // The recording first: were this process killed in between, the next one must still see whose the folder was.
  await rm(join(folder, FILE), { force: true })
  await rm(folder, { recursive: true, force: true })
}
