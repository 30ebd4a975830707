import { parseEnv } from 'node:util'
import { UsageError } from '../command-errors.ts'
import { readPrivateFile } from './read-private-file.ts'

interface CredentialsFile {
  readonly authUrl?: string | undefined
  readonly tokenEndpoint?: string | undefined
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
    tokenEndpoint: value('tokenurl'),
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
