import { open } from 'node:fs/promises'
import { UsageError } from '../command-errors.ts'

/** @throws {UsageError} if it cannot be read, or if other users are allowed to read it */
export async function readPrivateFile(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const mode = (await file.stat()).mode & 0o777
    // Windows keeps its permissions elsewhere.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UsageError(
        `${path} is accessible to other users (mode ${mode.toString(8).padStart(4, '0')}). Run chmod 600 ${path}.`,
      )
    }
    return await file.readFile('utf8')
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(code === 'ENOENT' ? `${path} does not exist.` : `Could not read ${path} (${code}).`)
  }
}
