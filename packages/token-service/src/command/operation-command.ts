import { Option, type Command } from 'commander'
import { z } from 'zod'
import { jsonSchema } from '../http/openapi/json-schema.ts'
import type { AnyOperation, OperationCommand, OperationGroup } from '../admin/operation.ts'
import { UsageError } from '../runtime/usage-error.ts'
import type { AdminRequest } from './send-admin-request.ts'

type Choose = (request: AdminRequest) => void

/** Adds the commands of these operations, under their headings. */
export function addOperationCommands(
  admin: Command,
  groups: readonly OperationGroup[],
  choose: Choose,
): void {
  for (const { heading, operations } of groups) {
    admin.commandsGroup(`${heading}:`)
    for (const operation of operations) addOperationCommand(admin, operation, choose)
  }
}

function addOperationCommand(
  admin: Command,
  { method, path, summary, body, query, command: given }: AnyOperation,
  choose: Choose,
): void {
  const its: OperationCommand = typeof given === 'string' ? { name: given } : given
  const { labels = {}, options = [], read = {}, readBody } = its
  const parameters = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!)
  const members = readBody ? [] : [...membersOf(query as z.ZodType), ...membersOf(body as z.ZodType)]
  const isArgument = ({ name, required }: Member) => required && !options.includes(name)
  const required = members.filter(isArgument)
  const command = admin.command(its.name).description(`${summary}.`)
  const argument = (name: string) => command.argument(`<${labels[name] ?? kebab(name)}>`)
  for (const name of [...parameters, ...required.map(({ name }) => name), ...(readBody ? ['file'] : [])])
    argument(name)
  for (const member of members.filter((each) => !isArgument(each)))
    command.addOption(optionOf(member, labels[member.name]))
  command.action((...values: unknown[]) => {
    const texts = values.slice(0, command.registeredArguments.length) as string[]
    const url = path.replaceAll(/:\w+/g, () => encodeURIComponent(texts.shift()!))
    const set: Record<string, unknown> = {
      ...Object.fromEntries(required.map(({ name }) => [name, texts.shift()])),
      ...command.opts(),
    }
    for (const [name, value] of Object.entries(set))
      if (typeof value === 'string' && read[name]) set[name] = read[name](value)
    choose({
      method: method.toUpperCase() as AdminRequest['method'],
      path: query ? withQuery(url, set) : url,
      body: readBody ? readBody(texts.shift()!) : body ? set : undefined,
    })
  })
}

/** A member of a body or of a query. */
interface Member {
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object'
  readonly description: string
  readonly required: boolean
  readonly default?: unknown
}

function membersOf(schema: z.ZodType | undefined): Member[] {
  if (!(schema instanceof z.ZodObject)) return []
  const { required = [] } = jsonSchema(schema) as { required?: string[] }
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, member]) => {
    const { type, description, default: initial } = jsonSchema(member) as Record<string, unknown>
    return {
      name,
      type: type === 'integer' ? 'number' : ((type ?? 'string') as Member['type']),
      description: describeMember(description, initial),
      required: required.includes(name),
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

function optionOf({ name, type, description, required }: Member, label: string | undefined): Option {
  const placeholder = label === undefined ? placeholders[type] : ` <${label}>`
  const option = new Option(`--${kebab(name)}${placeholder}`, description).makeOptionMandatory(required)
  if (type === 'number') option.argParser(Number)
  if (type === 'object' && label === undefined)
    option.argParser((text) => parseJson(`--${kebab(name)}`, text))
  return option
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
