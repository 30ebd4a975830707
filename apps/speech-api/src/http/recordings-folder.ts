import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where recordings are stored until they have been transcribed. */
export interface RecordingsFolder {
  newPath(): Promise<string>
  /** Removes the recordings of servers that were killed. */
  removeOthers(): Promise<void>
  remove(): Promise<void>
}

const PREFIX = 'speech-api-'
const DAY_MS = 86_400_000

/** @param port of the server; 0 if it is chosen when the server listens */
export function createRecordingsFolder(port: number): RecordingsFolder {
  const shared = join(tmpdir(), `${PREFIX}${port || randomUUID()}`)
  const own = join(shared, randomUUID())
  return {
    async newPath() {
      await mkdir(own, { recursive: true, mode: 0o700 })
      return join(own, `${randomUUID()}.wav`)
    },
    async removeOthers() {
      // Only this server listens on its port. Of the others, nobody knows which still run.
      const before = (await namesIn(shared)).map((name) => join(shared, name)).filter((path) => path !== own)
      const others = (await namesIn(tmpdir())).filter((name) => name.startsWith(PREFIX))
      const old = await Promise.all(others.map((name) => olderThanADay(join(tmpdir(), name))))
      const stale = [...before, ...old.flat()]
      await Promise.all(
        stale.map((path) => rm(path, { recursive: true, force: true }).catch(() => undefined)),
      )
    },
    remove: () => rm(port ? own : shared, { recursive: true, force: true }),
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => [])
}

async function olderThanADay(path: string): Promise<string[]> {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
  return mtimeMs < Date.now() - DAY_MS ? [path] : []
}
