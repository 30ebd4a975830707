import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { applicationSchema } from '../registry/application-options.ts'
import { UsageError } from '../platform/usage-error.ts'

const port = z.coerce.number().int().min(0).max(65_535)
const credentials = z.strictObject({ clientId: z.string().min(1), clientSecret: z.string().min(1) })
const resourceServers = z.array(credentials)

/** The settings of the configuration file; flags and environment can set most of them too. */
const configurationSchema = z.strictObject({
  port: port.default(8080),
  host: z.string().min(1).default('127.0.0.1'),
  storage: z.string().default('sqlite:tokenwell-data/tokenwell.db'),
  keys: z.array(z.string()).optional(),
  keysFile: z.string().optional(),
  errors: z.enum(['classic', 'rfc6749']).default('classic'),
  applications: z.array(applicationSchema).default([]),
  applicationsFile: z.string().optional(),
  products: z.array(z.string().min(1)).optional(),
  secretOverlapSeconds: z.number().min(0).optional(),
  resourceServers: resourceServers.default([]),
  failureLimit: z
    .strictObject({ attempts: z.int().min(1).optional(), windowSeconds: z.number().positive().optional() })
    .optional(),
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  trustProxy: z.union([z.boolean(), z.string()]).optional(),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  drainSeconds: z.coerce.number().min(0).max(3_600).default(0),
  metrics: z.boolean().default(true),
  sandbox: z.union([z.boolean(), port.transform((number) => ({ port: number }))]).default(false),
})

export type Configuration = z.output<typeof configurationSchema>
export type Settings = Readonly<Record<string, unknown>>

/** Precedence: flags and environment (`given`), file, defaults. */
export function readConfiguration(file: string | undefined, given: Settings): Configuration {
  const fromFile = file === undefined ? {} : readSettings(file)
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const configuration = validate({ ...fromFile, ...Object.fromEntries(set) })
  const { applicationsFile } = configuration
  if (applicationsFile === undefined) return configuration
  const more = readYaml(applicationsFile)
  return validate({ ...configuration, applications: more, applicationsFile: undefined })
}

/** Paths in a file are relative to that file. */
function readSettings(file: string): Settings {
  const settings = readYaml(file) ?? {}
  if (typeof settings !== 'object' || Array.isArray(settings)) {
    throw new UsageError(`The configuration file ${file} must contain settings, one "name: value" per line.`)
  }
  const paths = Object.entries(settings).filter(
    ([name]) => name === 'keysFile' || name === 'applicationsFile',
  )
  const absolute = paths.map(([name, value]) => [name, resolve(dirname(file), String(value))])
  return { ...settings, ...Object.fromEntries(absolute) }
}

/** JSON is YAML, too. */
function readYaml(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`Could not read the file ${file}.`, { cause: error })
  }
  try {
    return parse(text)
  } catch (error) {
    // The parser's message quotes lines of the file, which may contain a secret.
    const line = error instanceof Error && 'linePos' in error ? linePosition(error.linePos) : ''
    throw new UsageError(`The file ${file} is not valid YAML or JSON${line}.`)
  }
}

function linePosition(positions: unknown): string {
  const [first] = Array.isArray(positions) ? (positions as { line: number }[]) : []
  return first ? ` (line ${first.line})` : ''
}

function validate(settings: Settings): Configuration {
  const result = configurationSchema.safeParse(settings)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const name =
    [...(issue?.path ?? [])].join('.') || (issue?.code === 'unrecognized_keys' ? issue.keys[0] : '')
  throw new UsageError(`The setting "${name}" is invalid: ${issue?.message}.`)
}
