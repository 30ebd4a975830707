import { open } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { UserMistake } from '../user-mistake.ts'

interface CredentialsFile {
  readonly authUrl?: string | undefined
  readonly tokenUrl?: string | undefined
  readonly clientId?: string | undefined
  readonly clientSecret?: string | undefined
}

/**
 * Reads `NAME=value` lines or a JSON object; `CLIENT_ID`, `client_id` and `clientId` are the same name.
 *
 * @throws {UserMistake} if others than its owner may read it, too
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
    tokenUrl: value('tokenurl'),
    clientId: value('clientid', 'consumerkey'),
    clientSecret: value('clientsecret', 'consumersecret'),
  }
  if (found.clientId !== undefined || found.clientSecret !== undefined) return found
  throw new UserMistake(
    `${path} names no credentials: write CLIENT_ID=… and CLIENT_SECRET=… into it, one a line.`,
  )
}

async function readPrivateFile(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const mode = (await file.stat()).mode & 0o777
    // Windows keeps its permissions elsewhere.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new UserMistake(
        `${path} is open to others on this machine (mode ${mode.toString(8).padStart(4, '0')}): run chmod 600 ${path}`,
      )
    }
    return await file.readFile('utf8')
  } catch (error) {
    if (error instanceof UserMistake) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new UserMistake(code === 'ENOENT' ? `${path} does not exist.` : `${path} cannot be read (${code}).`)
  }
}

function parse(text: string, path: string): object {
  if (!text.trimStart().startsWith('{')) return parseEnv(text)
  try {
    return JSON.parse(text) as object
  } catch {
    // Its own message quotes what is in the file.
    throw new UserMistake(`${path} begins like JSON, but is none.`)
  }
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '')
}
