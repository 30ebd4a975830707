import { z } from 'zod'
import type { RawParameters } from '../../oauth/parameters.ts'
import { PortalError } from '../portal-error.ts'
import type { FormState } from './form.ts'

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
  const result = schema.safeParse(values, { error: describeField })
  if (result.success) return { data: result.data }
  const errors: Record<string, string> = {}
  for (const { path, message } of result.error.issues) errors[String(path[0])] ??= fieldError(message)
  return { state: { values, errors } }
}

/** A message that completes a sentence with the name of a setting is one about the field. */
export function fieldError(message: string): string {
  return message.startsWith('must ') ? `This ${message}.` : message
}

/** The messages of forms about texts that are empty or too long. */
export const describeField: z.core.$ZodErrorMap = (issue) => {
  if (issue.origin !== 'string') return undefined
  if (issue.code === 'too_small') return 'This field is required.'
  return issue.code === 'too_big' ? `Use at most ${issue.maximum} characters.` : undefined
}

/** By which a form is recognised: sending it twice creates something once. */
export const submissionForm = z.object({ submission_id: z.uuid() })

/** Deletes something, or restores it while that is possible. */
export const deletionForm = z.object({ decision: z.enum(['delete', 'restore']) })
