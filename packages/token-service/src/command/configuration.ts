import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../runtime/usage-error.ts'
import { parseSettings } from '../runtime/setting.ts'
import { commandSettings } from './command-settings.ts'

const adminSettings = z.object(
  commandSettings.pick({ adminPort: true, adminHost: true, adminToken: true, adminTokenFile: true }).shape,
)

export type Configuration = z.output<typeof commandSettings>
export type Settings = Readonly<Record<string, unknown>>

/** Precedence: flags and environment (`given`), file, defaults. `openidClientSecret` is that of the provider in the file. */
export async function readConfiguration(file: string | undefined, given: Settings): Promise<Configuration> {
  const fromFile = file === undefined ? {} : await readSettings(file)
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const settings: Settings = { ...fromFile, ...Object.fromEntries(set) }
  const { openidClientSecret, ...others } = settings
  const { storageFile, adminTokenFile } = others
  return parseSettings(
    commandSettings,
    withSecretsFromFiles({
      ...others,
      ...(typeof adminTokenFile === 'string' && { adminToken: readText(adminTokenFile).trim() }),
      ...(typeof storageFile === 'string' && { storage: readText(storageFile).trim() }),

      ...(openidClientSecret !== undefined &&
        isObject(others['openidProvider']) && {
          openidProvider: {
            ...others['openidProvider'],
            clientSecretFile: undefined,
            clientSecret: openidClientSecret,
          },
        }),
    }),
  )
}

/** Where a running service listens for administrators, as the variables of `tokenwell-service admin` name it. */
export async function adminEnvironment(
  file: string | undefined,
  given: Settings,
): Promise<Record<string, string>> {
  const fromFile = file === undefined ? {} : await readSettings(file)
  const { adminPort, adminHost, adminToken, adminTokenFile } = parseSettings(adminSettings, {
    ...fromFile,
    ...given,
  })
  // An address that stands for all of them cannot be connected to everywhere.
  const address = { '0.0.0.0': '127.0.0.1', '::': '::1' }[adminHost] ?? adminHost
  const host = address.includes(':') ? `[${address}]` : address
  return {
    ...(adminPort !== undefined && { TOKENWELL_ADMIN_URL: `http://${host}:${adminPort}` }),
    ...(adminTokenFile !== undefined && { TOKENWELL_ADMIN_TOKEN_FILE: adminTokenFile }),
    ...(adminToken !== undefined && { TOKENWELL_ADMIN_TOKEN: adminToken }),
  }
}

/** Paths in a file are relative to that file. */
async function readSettings(file: string): Promise<Settings> {
  const settings = (await readYaml(file)) ?? {}
  if (typeof settings !== 'object' || Array.isArray(settings)) {
    throw new UsageError(`The configuration file ${file} must contain settings, one "name: value" per line.`)
  }
  return absolutePaths(settings, dirname(file)) as Settings
}

/** Makes each path in a setting whose name ends with `File` absolute. */
function absolutePaths(value: unknown, folder: string): unknown {
  if (Array.isArray(value)) return value.map((each) => absolutePaths(each, folder))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [
    name,
    name.endsWith('File') && typeof each === 'string' ? resolve(folder, each) : absolutePaths(each, folder),
  ])
  return Object.fromEntries(entries)
}

function withSecretsFromFiles(settings: Settings): Settings {
  const withSecrets = (clients: unknown) =>
    Array.isArray(clients) ? clients.map((client: unknown) => withSecret(client)) : clients
  const { applications, resourceServers, openidProvider } = settings
  return {
    ...settings,
    applications: withSecrets(applications),
    resourceServers: withSecrets(resourceServers),
    ...(openidProvider !== undefined && { openidProvider: withSecret(openidProvider) }),
  }
}

/** `clientSecretFile` names a file that contains the secret, instead of `clientSecret`; likewise `publicKeyFile`. */
function withSecret(client: unknown): unknown {
  if (!isObject(client)) return client
  const { clientSecretFile, publicKeyFile, ...others } = client
  return {
    ...others,
    ...(typeof clientSecretFile === 'string' && {
      clientSecret: readText(clientSecretFile).replace(/\r?\n$/, ''),
    }),
    ...(typeof publicKeyFile === 'string' && { publicKey: readText(publicKeyFile) }),
  }
}

function isObject(value: unknown): value is Settings {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads YAML, which includes JSON. */
async function readYaml(file: string): Promise<unknown> {
  const text = readText(file)
  const json = parseJson(text)
  if (json !== undefined) return json
  const { parse } = await import('yaml')
  try {
    return parse(text) as unknown
  } catch (error) {
    // The parser's message quotes lines of the file, which may contain a secret.
    const line = error instanceof Error && 'linePos' in error ? linePosition(error.linePos) : ''
    throw new UsageError(`${file} is not valid YAML or JSON${line}.`)
  }
}

/** JSON does not need the YAML parser, which delays the start. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`Could not read ${file} (${code}).`)
  }
}

function linePosition(positions: unknown): string {
  const [first] = Array.isArray(positions) ? (positions as { line: number }[]) : []
  return first ? ` (line ${first.line})` : ''
}
