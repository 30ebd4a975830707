import { z } from 'zod'
import { unstorablePart } from './bounds.ts'
import { describeIssue, firstIssue } from './parse-value.ts'
import { UsageError } from './usage-error.ts'

/** A list; in flags and variables, separated by commas. */
export function list<Item extends z.ZodType>(item: Item) {
  const split = (value: unknown) =>
    typeof value === 'string' ? value.split(',').map((each) => each.trim()) : value
  return z.preprocess(split, z.array(item))
}

/** A number; flags and variables have it as text. Nothing else counts as one: not an empty text, which would be 0. */
export function numeric(schema: z.ZodNumber) {
  const read = (value: unknown) =>
    typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
  return z.preprocess(read, schema)
}

/** True or false; flags and variables have it as text. */
export const booleanOf = (value: unknown) => (value === 'true' ? true : value === 'false' ? false : value)
export const boolean = z.preprocess(booleanOf, z.boolean())

const portRule = 'must be a whole number from 0 to 65535'
export const port = numeric(z.number(portRule).int(portRule).min(0, portRule).max(65_535, portRule))

/** What a setting takes as a flag, and its meaning: the command's help. */
export interface SettingMeta {
  readonly value: string
  readonly description: string
}

/** A setting that is a flag, too. */
export function setting<Schema extends z.ZodType>(
  value: string,
  description: string,
  schema: Schema,
): Schema {
  return schema.meta({ value, description })
}

/** A setting with a wrong value. */
export class SettingError extends UsageError {
  /** Such as `applications[0].name`. */
  readonly setting: string

  constructor(setting: string, what: string) {
    super(`The setting "${setting}" ${what}.`)
    this.setting = setting
  }
}

/** @throws {@link SettingError} */
export function parseSettings<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const unstorable = unstorablePart(given)
  if (unstorable) throw new SettingError(...unstorable)
  const result = schema.safeParse(given, { error: describeIssue })
  if (result.success) return result.data
  const [name, what] = firstIssue(result.error)
  throw new SettingError(name, what)
}
