import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../runtime/usage-error.ts'
import { createRandomKey } from '../runtime/keyring.ts'

/**
 * Reads the keys beside a database, one per line and the newest first; for a new database, creates them with a random key.
 *
 * @throws {@link UsageError} if the database is there and its keys are not, as after a restore without them
 */
export async function readOrCreateKeyFile(databaseFile: string): Promise<string[]> {
  const path = `${databaseFile}.keys`
  if (!existsSync(path)) {
    const { size = 0 } = (await stat(databaseFile).catch(() => undefined)) ?? {}
    if (size > 0) {
      throw new UsageError(
        `The key file ${path} is missing, and the secrets in ${databaseFile} were hashed with its keys. Copy it from your backup of the keys.`,
      )
    }
    await createKeyFile(path).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`Could not create the key file ${path} (${error.code}).`, { cause: error })
    })
  }
  return readKeyFile(path)
}

/** Another process that starts at the same time finds the whole file, or none. */
async function createKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const unfinished = `${path}.${randomUUID()}`
  await writeFile(unfinished, `${createRandomKey()}\n`, { flag: 'wx', mode: 0o600, flush: true })
  try {
    await link(unfinished, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(unfinished)
  }
}

export async function readKeyFile(path: string): Promise<string[]> {
  const { mode } = await stat(path).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`Could not read the key file ${path} (${code}).`, { cause: error })
  })
  // Windows has no such bits.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new UsageError(`The key file ${path} is accessible to other users. Run chmod 600 ${path}.`)
  }
  const keys = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '')
  if (keys.length === 0) throw new UsageError(`The key file ${path} is empty. Add the keys, one per line.`)
  return keys.map((key) => key.trim())
}
