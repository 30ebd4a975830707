import { parseEnv } from 'node:util'
import { UsageError } from '../command-errors.ts'
import { open } from 'node:fs/promises'

interface CredentialsFile {
  readonly authUrl?: string | undefined
  readonly tokenEndpoint?: string | undefined
  readonly issuer?: string | undefined
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
}

/**
 * Reads `NAME=value` lines or a JSON object; `CLIENT_ID`, `client_id` and `clientId` are the same name.
 *
 * @throws {UsageError} if other users are allowed to read it
 */
export async function readCredentialsFile(path: string): Promise<CredentialsFile> {
  const values = parse(await readPrivateFile(path), path)
  const named = new Map(Object.entries(values).map(([name, value]) => [plain(name), value]))
  const value = (...names: readonly string[]): string | undefined =>
    names.map((name) => named.get(name)).find((each) => typeof each === 'string' && each !== '') as
      | string
      | undefined
  const found = {
    authUrl: value('authurl'),
    tokenEndpoint: value('tokenendpoint'),
    issuer: value('issuer'),
    clientId: value('clientid', 'consumerkey'),
    clientSecret: value('clientsecret', 'consumersecret'),
  }
  if (found.clientId !== undefined || found.clientSecret !== undefined) return found
  throw new UsageError(`${path} contains no credentials. Add the lines CLIENT_ID=… and CLIENT_SECRET=….`)
}

function parse(text: string, path: string): object {
  if (!text.trimStart().startsWith('{')) return parseEnv(text)
  try {
    return JSON.parse(text) as object
  } catch {
    // The parser's message quotes the file.
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
