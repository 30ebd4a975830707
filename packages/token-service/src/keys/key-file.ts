import { mkdir, open, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UserMistake } from '../user-mistake.ts'
import { createRandomKey } from './keyring.ts'

/** Reads keys, one a line and the newest first, from a file that only its owner may read; makes it with one if need be. */
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
    throw new UserMistake(`The key file ${path} cannot be read.`, { cause: error })
  })
  // Windows has no such bits.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    throw new UserMistake(`The key file ${path} is open to other users. Close it with: chmod 600 ${path}`)
  }
  const keys = (await readFile(path, 'utf8')).split('\n').filter((line) => line.trim() !== '')
  if (keys.length === 0) throw new UserMistake(`The key file ${path} holds no key.`)
  return keys.map((key) => key.trim())
}
