import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TemporaryFile extends AsyncDisposable {
  readonly path: string
}

/** A file in a folder of its own that nobody else may enter; removed when it is disposed of, and if writing it fails. */
export async function createTemporaryFile(
  write: (file: FileHandle) => Promise<unknown>,
): Promise<TemporaryFile> {
  const folder = await mkdtemp(join(tmpdir(), 'speech-api-'))
  const dispose = () => rm(folder, { recursive: true, force: true })
  try {
    const path = join(folder, 'recording.wav')
    await using file = await open(path, 'wx')
    await write(file)
    return { path, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}
