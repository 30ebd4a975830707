import { mkdir, open, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../platform/usage-error.ts'
import { createRandomKey } from './keyring.ts'

/** Reads keys from a file, one per line and the newest first; creates the file with a random key if it is missing. */
export async function readOrCreateKeyFile(path: string): Promise<string[]> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    const file = await open(path, 'wx', 0o600)
    await file.writeFile(`${createRandomKey()}\n`)
    await file.sync()
    await file.close()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return readKeyFile(path)
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
