import { open } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { UsageError } from '../errors.ts'
import { variables } from './variables.ts'

/**
 * Reads `NAME=value` lines or a JSON object; `CLIENT_ID`, `client_id` and `clientId` are the same name. Returns a function that
 * returns the value of a variable.
 *
 * @throws {UsageError} if other users are allowed to read it
 */
export async function readCredentialsFile(path: string): Promise<(variable: string) => string | undefined> {
  const text = await readPrivateFile(path)
  const values = text.trimStart().startsWith('{') ? parseJson(text, path) : parseEnv(text)
  const named = new Map<string, unknown>(Object.entries(values).map(([name, value]) => [plain(name), value]))
  const read = (variable: string): string | undefined => {
    const value = named.get(plain(variable))
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  if ([...variables.clientId, ...variables.clientSecret].some(read)) return read
  throw new UsageError(`${path} contains no credentials. Add the lines CLIENT_ID=… and CLIENT_SECRET=….`)
}

/** @throws {UsageError} that does not quote the file, as the parser's message does */
function parseJson(text: string, path: string): object {
  try {
    return JSON.parse(text) as object
  } catch {
    throw new UsageError(`${path} is not valid JSON.`)
  }
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}

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
