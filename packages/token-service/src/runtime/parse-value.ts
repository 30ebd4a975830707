import type { z } from 'zod'
import { unstorablePart } from './bounds.ts'
import { UsageError } from './usage-error.ts'

/**
 * Parses a value of a request.
 *
 * @param whole names the value, where no part of it is the cause
 * @throws {@link UsageError} that names the first invalid part
 */
export function parseValue<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  whole = 'The request body',
): z.output<Schema> {
  const unstorable = unstorablePart(value)
  if (unstorable) throw new UsageError(`${unstorable[0] || whole} ${unstorable[1]}.`)
  const result = schema.safeParse(value, { error: describeIssue })
  if (result.success) return result.data
  const [name, what] = firstIssue(result.error)
  throw new UsageError(`${name || whole} ${what}.`)
}

const types: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'a string',
}

const formats: Readonly<Record<string, string>> = {
  datetime: 'a date and time with a time zone, such as 2030-01-31T00:00:00Z',
  url: 'an absolute URL that starts with https:// or http://',
}

/**
 * Completes a sentence that starts with the name of a setting, such as "port must be a number". For the option `error`
 * of a schema's `parse`; the schema's own messages, which have the same form, take precedence. Never quotes the value.
 */
export const describeIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${types[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? `valid (${issue.format})`}`
    case 'too_small':
      if (issue.origin === 'string') return 'must not be empty'
      return `must be ${issue.inclusive ? 'at least' : 'greater than'} ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`
    case 'unrecognized_keys':
      return 'is unknown'
    default:
      return 'is invalid'
  }
}

/** The first issue: the name of the value that it is about, such as `applications[0].name`, and its description. */
export function firstIssue({ issues }: z.core.$ZodError, root = ''): [name: string, what: string] {
  const issue = issues[0]!
  const path = [root, ...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])]
  const name = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('')
  return [name.replace(/^\.+/, ''), issue.message]
}
