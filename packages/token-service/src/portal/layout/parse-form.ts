import { z } from 'zod'
import type { RawParameters } from '../../oauth/parameters.ts'
import { PortalError } from '../portal-error.ts'
import type { FormState } from './form.ts'

/** A line of text, without control characters. */
export function line(maxLength: number): z.ZodString {
  return z
    .string()
    .trim()
    .min(1, 'This field is required.')
    .max(maxLength, `Use at most ${maxLength} characters.`)
    .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'Remove line breaks and other control or invisible characters.')
}

/** Several lines of text, or none; without other control characters. */
export function optionalText(maxLength: number) {
  return z
    .string()
    .transform((text) => text.replaceAll('\r\n', '\n').trim())
    .pipe(
      z
        .string()
        .max(maxLength, `Use at most ${maxLength} characters.`)
        .regex(/^[^\p{Cf}\p{Zl}\p{Zp}\0-\t\v-\x1f\x7f-\x9f]*$/u, 'Remove control and invisible characters.'),
    )
}

export function optionalLine(maxLength: number) {
  return z.union([z.literal(''), line(maxLength)])
}

export type ParsedForm<Data> =
  | { readonly data: Data }
  | { readonly data?: undefined; readonly state: FormState }

/** Parses a form; errors are returned by field, together with the values. */
export function parseForm<Schema extends z.ZodObject>(
  schema: Schema,
  form: RawParameters,
): ParsedForm<z.output<Schema>> {
  const values: Record<string, string> = {}
  for (const name of Object.keys(schema.shape)) {
    const value = form[name] ?? ''
    // No browser sends one of our fields twice.
    if (typeof value !== 'string') throw new PortalError('invalid_form')
    values[name] = value
  }
  const result = schema.safeParse(values)
  if (result.success) return { data: result.data }
  const errors: Record<string, string> = {}
  for (const { path, message } of result.error.issues) errors[String(path[0])] ??= message
  return { state: { values, errors } }
}

/** By which a form is recognised: sending it twice creates something once. */
export const submissionForm = z.object({ submission_id: z.uuid() })

/** Deletes something, or restores it while that is possible. */
export const deletionForm = z.object({ decision: z.enum(['delete', 'restore']) })
