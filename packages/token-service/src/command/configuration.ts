import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { applicationSchema } from '../applications/application-options.ts'
import { UserMistake } from '../user-mistake.ts'

const port = z.coerce.number().int().min(0).max(65_535)
const credentials = z.strictObject({ clientId: z.string().min(1), clientSecret: z.string().min(1) })
const resourceServers = z.array(credentials)

/** What the configuration file may hold; flags and environment give a part of it. */
const configurationSchema = z.strictObject({
  port: port.default(8080),
  host: z.string().min(1).default('127.0.0.1'),
  storage: z.string().default('sqlite:tokenwell-data/tokenwell.db'),
  keys: z.array(z.string()).optional(),
  keysFile: z.string().optional(),
  errors: z.enum(['classic', 'rfc6749']).default('classic'),
  applications: z.array(applicationSchema).default([]),
  applicationsFile: z.string().optional(),
  resourceServers: resourceServers.default([]),
  failureLimit: z
    .strictObject({ attempts: z.int().min(1).optional(), windowSeconds: z.number().positive().optional() })
    .optional(),
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  trustProxy: z.union([z.boolean(), z.string()]).optional(),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  metrics: z.boolean().default(true),
  sandbox: z.union([z.boolean(), port.transform((number) => ({ port: number }))]).default(false),
})

export type Configuration = z.output<typeof configurationSchema>
export type Settings = Readonly<Record<string, unknown>>

/** Flags and environment, as `given`, outweigh the file, the file the defaults. */
export function readConfiguration(file: string | undefined, given: Settings): Configuration {
  const fromFile = file === undefined ? {} : readSettings(file)
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const configuration = checked({ ...fromFile, ...Object.fromEntries(set) })
  const { applicationsFile } = configuration
  if (applicationsFile === undefined) return configuration
  const more = readYaml(applicationsFile)
  return checked({ ...configuration, applications: more, applicationsFile: undefined })
}

/** Paths in a file are relative to it, not to where the command happens to be run. */
function readSettings(file: string): Settings {
  const settings = readYaml(file) ?? {}
  if (typeof settings !== 'object' || Array.isArray(settings)) {
    throw new UserMistake(`The configuration file ${file} must hold settings, one "name: value" a line.`)
  }
  const paths = Object.entries(settings).filter(
    ([name]) => name === 'keysFile' || name === 'applicationsFile',
  )
  const absolute = paths.map(([name, value]) => [name, resolve(dirname(file), String(value))])
  return { ...settings, ...Object.fromEntries(absolute) }
}

/** JSON is YAML too. */
function readYaml(file: string): unknown {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UserMistake(`The file ${file} cannot be read.`, { cause: error })
  }
  try {
    return parse(text)
  } catch (error) {
    // Its own message quotes the lines around the place, and those may hold a secret.
    const line = error instanceof Error && 'linePos' in error ? linePosition(error.linePos) : ''
    throw new UserMistake(`The file ${file} is neither YAML nor JSON${line}.`)
  }
}

function linePosition(positions: unknown): string {
  const [first] = Array.isArray(positions) ? (positions as { line: number }[]) : []
  return first ? `, see line ${first.line}` : ''
}

function checked(settings: Settings): Configuration {
  const result = configurationSchema.safeParse(settings)
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const name =
    [...(issue?.path ?? [])].join('.') || (issue?.code === 'unrecognized_keys' ? issue.keys[0] : '')
  throw new UserMistake(`The setting "${name}" is wrong: ${issue?.message}.`)
}
