import { Option } from 'commander'
import { z } from 'zod'
import { numeric, port, setting, type SettingMeta } from '../runtime/setting.ts'
import { serviceSettings } from '../service/service-settings.ts'
import { parseStorageLocation } from '../storage/open-database.ts'

const file = z.string().optional()

/** The settings of the command: those of the service, some with other defaults, and its own. */
export const commandSettings = serviceSettings.extend({
  port: setting('<number>', 'port to listen on; 0 selects a free port', port.default(8080)),
  storage: setting(
    '<where>',
    'where data is stored: sqlite:FILE, a postgres:// URL, or memory (default: sqlite:tokenwell-data/tokenwell.db)',
    z.string().default('sqlite:tokenwell-data/tokenwell.db').transform(parseStorageLocation),
  ),
  storageFile: setting('<file>', 'file that contains the value of --storage', file),
  secretHashKeysFile: setting(
    '<file>',
    'file with the keys that secrets are hashed with, one per line, newest first; or TOKENWELL_SECRET_HASH_KEYS, comma-separated',
    file,
  ),

  adminTokenFile: setting('<file>', 'file with the administrator token; or TOKENWELL_ADMIN_TOKEN', file),
  logLevel: setting(
    '<level>',
    'level of the log: trace, debug, info, warn, error, fatal or silent',
    z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  ),
  drainSeconds: setting(
    '<number>',
    'after SIGTERM, how long to keep serving requests while /readyz responds with status 503',
    numeric(z.number().min(0).max(3_600)).default(1),
  ),
})

/** The headings of the help. */
const groups: Readonly<Record<string, readonly (keyof typeof commandSettings.shape)[]>> = {
  'Where it listens': ['port', 'host', 'publicUrl', 'trustProxy', 'corsOrigins'],
  Storage: ['storage', 'storageFile', 'secretHashKeysFile', 'auditRetentionDays', 'usageRetentionDays'],
  Clients: [
    'products',
    'scopes',
    'secretOverlapSeconds',
    'failureAttempts',

    'jwksAllowedHosts',
  ],
  Administration: ['adminPort', 'adminHost', 'adminTokenFile', 'metrics'],
  'Requests and responses': ['format', 'signingAlgorithm'],
}

/** A flag for each setting but lists of objects and secrets, with an environment variable of the same name. */
export function settingFlags(): Option[] {
  return Object.entries(commandSettings.shape).flatMap(([name, schema]: [string, z.ZodType]) => {
    const { value, description } = (schema.meta() ?? {}) as Partial<SettingMeta>
    if (value === undefined || description === undefined) return []
    const option = new Option(`${flagOf(name)} ${value}`, description + defaultOf(schema))
    // One that was removed is read, so that its error says what to do.
    if (description === '') return [option.hideHelp().env(variableOf(name))]
    const group = Object.keys(groups).find((heading) => groups[heading]!.some((each) => each === name))
    if (group !== undefined) option.helpGroup(`${group}:`)
    return option.env(variableOf(name))
  })
}

/** The flag, the variable and the line in the configuration file that set a setting such as `port` or `applications[0].name`. */
export function waysToSet(setting: string): string | undefined {
  const name = /^\w+/.exec(setting)?.[0] ?? ''
  const schema = (commandSettings.shape as Record<string, z.ZodType | undefined>)[name]
  if (!schema) return undefined
  const inFile = `"${setting}" in the configuration file`
  const variable = secretVariables[setting]
  if (variable !== undefined) return `${variable}, or ${inFile}`
  return schema.meta()?.value === undefined ? inFile : `${flagOf(name)}, ${variableOf(name)}, or ${inFile}`
}

/** Secrets have a variable, but no flag, which all users of the machine could read. */
const secretVariables: Readonly<Record<string, string>> = {
  adminToken: 'TOKENWELL_ADMIN_TOKEN',
  secretHashKeys: 'TOKENWELL_SECRET_HASH_KEYS',
  'openidProvider.clientSecret': 'TOKENWELL_OPENID_CLIENT_SECRET',
}

/** What Kubernetes sets for a service that is called tokenwell. */
const ofKubernetes = /_(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/

/** Variables that look like settings, but are not read. */
export function unknownVariables(env: NodeJS.ProcessEnv): string[] {
  const settings = settingFlags().map(({ envVar }) => envVar)
  const known = new Set([
    ...settings,
    ...Object.values(secretVariables),
    'TOKENWELL_ADMIN_URL',
    'TOKENWELL_CONFIG',
  ])
  return Object.keys(env).filter(
    (name) => name.startsWith('TOKENWELL_') && !known.has(name) && !ofKubernetes.test(name),
  )
}

function flagOf(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

function variableOf(name: string): string {
  return `TOKENWELL_${flagOf(name).slice(2).replaceAll('-', '_').toUpperCase()}`
}

function defaultOf(schema: z.ZodType): string {
  const { data } = schema.safeParse(undefined)
  return typeof data === 'string' || typeof data === 'number' ? ` (default: ${data})` : ''
}
