import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { applicationSchema } from '../registry/application-schema.ts'
import { describeIssue, firstIssue } from '../platform/describe-issue.ts'
import { UsageError } from '../platform/usage-error.ts'

/** A list; in flags and variables, separated by commas. */
function list<Item extends z.ZodType>(item: Item) {
  const split = (value: unknown) =>
    typeof value === 'string' ? value.split(',').map((each) => each.trim()) : value
  return z.preprocess(split, z.array(item))
}

/** A number; flags and variables have it as text. Nothing else counts as one: not an empty text, which would be 0. */
function numeric(schema: z.ZodNumber) {
  const read = (value: unknown) =>
    typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  return z.preprocess(read, schema)
}

const portRule = 'must be a whole number from 0 to 65535'
const port = numeric(z.number(portRule).int(portRule).min(0, portRule).max(65_535, portRule))
const { clientSecret, jwks, jwksUrl, publicKey } = applicationSchema.shape
const resourceServer = z.strictObject({
  clientId: z.string().min(1),
  clientSecret,
  name: z.string().min(1).max(200).optional(),
  jwks,
  jwksUrl,
  publicKey,
})

/** The settings of the configuration file; flags and environment can set most of them too. */
export const configurationSchema = z.strictObject({
  port: port.default(8080),
  host: z.string().min(1).default('127.0.0.1'),
  storage: z.string().default('sqlite:tokenwell-data/tokenwell.db'),
  storageFile: z.string().optional(),
  keys: z.array(z.string()).optional(),
  keysFile: z.string().optional(),
  errors: z.enum(['classic', 'rfc6749']).default('classic'),
  applications: z.array(applicationSchema).default([]),
  applicationsFile: z.string().optional(),
  products: list(z.string().min(1)).optional(),
  secretOverlapSeconds: numeric(z.number().min(0)).optional(),
  resourceServers: z.array(resourceServer).default([]),
  resourceServersFile: z.string().optional(),
  failureAttempts: numeric(z.number().int().min(1)).optional(),
  failureWindowSeconds: numeric(z.number().positive()).optional(),
  corsOrigins: list(
    z.string().regex(/^(\*|https?:\/\/[^/]+)$/, 'must be an origin, such as https://tools.example.com'),
  ).optional(),
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  trustProxy: z
    .union(
      [z.boolean(), z.number(), z.string()],
      'must be true, false, the number of hops, or a comma-separated list of addresses',
    )
    .optional(),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  drainSeconds: numeric(z.number().min(0).max(3_600)).default(0),
  metrics: z.boolean().optional(),
  adminPort: port.optional(),
  adminHost: z.string().min(1).optional(),
  adminToken: z.string().min(32, 'must have 32 or more characters').optional(),
  adminTokenFile: z.string().optional(),
  auditRetentionDays: numeric(z.number().positive()).optional(),
  usageRetentionDays: numeric(z.number().positive()).optional(),
  jwksAllowedHosts: list(z.string().min(1)).optional(),
  sandbox: z
    .union([z.boolean(), port.transform((number) => ({ port: number }))], 'must be true, false or a port')
    .default(false),
})

export type Configuration = z.output<typeof configurationSchema>
export type Settings = Readonly<Record<string, unknown>>

/** Precedence: flags and environment (`given`), file, defaults. */
export async function readConfiguration(file: string | undefined, given: Settings): Promise<Configuration> {
  const fromFile = file === undefined ? {} : await readSettings(file)
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const settings: Settings = { ...fromFile, ...Object.fromEntries(set) }
  const { storageFile, applicationsFile, resourceServersFile, adminTokenFile } = settings
  return validate(
    withSecretsFromFiles({
      ...settings,
      ...(typeof adminTokenFile === 'string' && { adminToken: readText(adminTokenFile).trim() }),
      ...(typeof storageFile === 'string' && { storage: readText(storageFile).trim() }),
      ...(typeof applicationsFile === 'string' && { applications: await readYaml(applicationsFile) }),
      ...(typeof resourceServersFile === 'string' && {
        resourceServers: await readYaml(resourceServersFile),
      }),
    }),
  )
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
  const { applications, resourceServers } = settings
  return {
    ...settings,
    applications: withSecrets(applications),
    resourceServers: withSecrets(resourceServers),
  }
}

/** `clientSecretFile` names a file that contains the secret, instead of `clientSecret`; likewise `publicKeyFile`. */
function withSecret(client: unknown): unknown {
  if (typeof client !== 'object' || client === null) return client
  const { clientSecretFile, publicKeyFile, ...others } = client as Settings
  return {
    ...others,
    ...(typeof clientSecretFile === 'string' && {
      clientSecret: readText(clientSecretFile).replace(/\r?\n$/, ''),
    }),
    ...(typeof publicKeyFile === 'string' && { publicKey: readText(publicKeyFile) }),
  }
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

function validate(settings: Settings): Configuration {
  const result = configurationSchema.safeParse(settings, { error: describeIssue })
  if (result.success) return result.data
  const [name, what] = firstIssue(result.error)
  throw new UsageError(`The setting "${name}" ${what}.`)
}
