import { z } from 'zod'
import type { RawParameters } from '../../http/parameters.ts'
import { PortalRefusal } from '../portal-refusal.ts'
import type { FormState } from './form.ts'

/** Text that can be shown on one line, and kept in any database. */
export function line(maxLength: number): z.ZodString {
  return z
    .string()
    .trim()
    .min(1, 'Fill this in.')
    .max(maxLength, `At most ${maxLength} characters, please.`)
    .regex(/^\P{Cc}*$/u, 'No line breaks or control characters, please.')
}

export type ParsedForm<Data> =
  | { readonly data: Data }
  | { readonly data?: undefined; readonly state: FormState }

/** Reads a form; what is wrong with it comes back by field, with what was typed. */
export function parseForm<Schema extends z.ZodObject>(
  schema: Schema,
  form: RawParameters,
): ParsedForm<z.output<Schema>> {
  const values: Record<string, string> = {}
  for (const name of Object.keys(schema.shape)) {
    const value = form[name] ?? ''
    // No browser sends a field of ours twice.
    if (typeof value !== 'string') throw new PortalRefusal('bad_form')
    values[name] = value
  }
  const result = schema.safeParse(values)
  if (result.success) return { data: result.data }
  const mistakes: Record<string, string> = {}
  for (const { path, message } of result.error.issues) mistakes[String(path[0])] ??= message
  return { state: { values, mistakes } }
}
