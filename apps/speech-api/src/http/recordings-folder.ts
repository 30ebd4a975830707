import { randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where recordings are stored until they have been transcribed. */
export interface RecordingsFolder {
  newPath(): string
  /** Removes the recordings of servers that listened on the same port and were killed. */
  removeOthers(): Promise<void>
  remove(): Promise<void>
}

/** @param port only one server listens on it; 0 if it is chosen when the server listens */
export async function openRecordingsFolder(port: number): Promise<RecordingsFolder> {
  const shared = join(tmpdir(), `speech-api-${port || randomUUID()}`)
  await mkdir(shared, { recursive: true, mode: 0o700 })
  const own = await mkdtemp(join(shared, 'run-'))
  return {
    newPath: () => join(own, `${randomUUID()}.wav`),
    async removeOthers() {
      const others = (await readdir(shared)).map((name) => join(shared, name)).filter((path) => path !== own)
      await Promise.all(others.map((path) => rm(path, { recursive: true, force: true })))
    },
    remove: () => rm(port ? own : shared, { recursive: true, force: true }),
  }
}
