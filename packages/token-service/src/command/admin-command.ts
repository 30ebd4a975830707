import { Option, type Command } from 'commander'
import { z } from 'zod'
import { featureOperations } from '../features/all-operations.ts'
import { jsonSchema } from '../runtime/json-schema.ts'
import type { AnyOperation, OperationCommand } from '../features/operation.ts'
import { UsageError } from '../runtime/usage-error.ts'
import { readText } from './configuration.ts'
import type { AdminRequest } from './send-admin-request.ts'

type Choose = (request: AdminRequest) => void

/** Adds a command for each operation of the administrators' API. */
export function addAdminCommands(admin: Command, choose: Choose): void {
  admin.addHelpText(
    'after',
    `
TOKENWELL_ADMIN_URL         URL of the listener for administrators
                            (default: adminHost and adminPort in the file of
                            --config, or http://127.0.0.1:8081)
TOKENWELL_ADMIN_TOKEN       administrator token
TOKENWELL_ADMIN_TOKEN_FILE  file that contains it
                            (default: adminTokenFile in the file of --config)`,
  )
  for (const { heading, operations } of featureOperations) {
    admin.commandsGroup(`${heading}:`)
    for (const operation of operations) addCommand(admin, operation, choose)
  }
}

function addCommand(
  admin: Command,
  { method, path, summary, body, query, command: given, ifMatch }: AnyOperation,
  choose: Choose,
): void {
  const its: OperationCommand = typeof given === 'string' ? { name: given } : given
  const { labels = {}, options = [], without = [], files = [], bodyFile, follow } = its
  const parameters = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)
  const members = bodyFile
    ? []
    : [...membersOf(query), ...membersOf(body)].filter(({ name }) => !without.includes(name))
  const isArgument = ({ name, required }: Member) => required && !options.includes(name)
  const required = members.filter(isArgument)
  const command = admin.command(its.name).description(`${summary}.`)
  const argument = (name: string) => command.argument(`<${labels[name] ?? kebab(name)}>`)
  for (const name of [...parameters, ...required.map(({ name }) => name), ...(bodyFile ? ['file'] : [])])
    argument(name)
  for (const member of members.filter((each) => !isArgument(each)))
    command.addOption(optionOf(member, files.includes(member.name)))
  if (ifMatch)
    command.option(
      '--if-match <revision>',
      `change only this revision${ifMatch === 'required' ? ', or * for any; required for what exists' : ''}`,
    )
  if (follow) command.option('--follow', 'wait for what comes next, and go on')
  command.action((...values: unknown[]) => {
    const texts = values.slice(0, command.registeredArguments.length) as string[]
    const url = path.replaceAll(/:\w+/g, () => encodeURIComponent(texts.shift()!))
    const { follow: isFollowed, ifMatch: seen, ...given } = command.opts<Record<string, unknown>>()
    const set: Record<string, unknown> = {
      ...(follow !== undefined && isFollowed === true && { [follow]: 0 }),
      ...Object.fromEntries(required.map(({ name }) => [name, texts.shift()])),
      ...given,
    }
    for (const name of files) if (set[name] !== undefined) set[name] = readTextOrUrl(set[name] as string)
    choose({
      method: method.toUpperCase() as AdminRequest['method'],
      path: query ? withQuery(url, set) : url,
      body: bodyFile ? readObject(texts.shift()!) : body ? set : undefined,
      ...(isFollowed === true && { follow }),
      ...(typeof seen === 'string' && { ifMatch: seen }),
    })
  })
}

/** A member of a body or of a query. */
interface Member {
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object'
  readonly description: string
  readonly required: boolean
  readonly choices: readonly string[] | undefined
}

function membersOf(schema: z.ZodType | undefined): Member[] {
  if (!(schema instanceof z.ZodObject)) return []
  const { required = [] } = jsonSchema(schema) as { required?: string[] }
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, member]) => {
    const { type, description, default: initial, enum: choices } = jsonSchema(member)
    return {
      name,
      type: type === 'integer' ? 'number' : ((type ?? 'string') as Member['type']),
      description: describeMember(description, initial),
      required: required.includes(name),
      choices: choices as string[] | undefined,
    }
  })
}

function describeMember(description: unknown, initial: unknown): string {
  const text = typeof description === 'string' ? description.replace(/\.$/, '') : ''
  const isShown = typeof initial === 'number' || (typeof initial === 'string' && initial !== '')
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}${isShown ? ` (default: ${initial})` : ''}`
}

const placeholders: Readonly<Record<Member['type'], string>> = {
  string: ' <text>',
  number: ' <number>',
  boolean: '',
  array: ' <names...>',
  object: ' <json>',
}

function optionOf({ name, type, description, required, choices }: Member, isFile: boolean): Option {
  const flag = `--${kebab(name)}`
  const placeholder = isFile ? ' <file>' : placeholders[type]
  const option = new Option(`${flag}${placeholder}`, description).makeOptionMandatory(required)
  if (choices) option.choices(choices)
  if (type === 'number') option.argParser(Number)
  if (type === 'object' && !isFile) option.argParser((text) => parseJson(flag, text))
  return option
}

function readTextOrUrl(source: string): string {
  return /^https?:/i.test(source) ? source : readText(source)
}

function readObject(file: string): Record<string, unknown> {
  const text = readText(file)
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null
    if (typeof value === 'object' && value) return value
  } catch {
    // Reported below.
  }
  throw new UsageError(`${file} does not contain a JSON object.`)
}

function parseJson(flag: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new UsageError(`${flag} is not valid JSON.`)
  }
}

function withQuery(url: string, query: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(query).map(([name, value]) => [name, String(value)])
  return entries.length === 0 ? url : `${url}?${new URLSearchParams(entries)}`
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
