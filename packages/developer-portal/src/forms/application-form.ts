import { z } from 'zod'
import {
  applicationSchema,
  type ApplicationSettings,
  type RawParameters,
} from '@tokenwell/token-service/plugin'
import type { FormState } from '../components/form.ts'
import { PortalError } from '../request/portal-error.ts'
import { line, parseForm, type ParsedForm } from './parse-form.ts'

const { responseForm } = applicationSchema.shape
const applicationForm = z.object({
  name: line(200),
  level: z.union([z.literal(''), line(200)]),
  response_form: responseForm.unwrap(),
  lifetime_seconds: z
    .string()
    .regex(/^ *\d{1,8} *$/, 'Enter a whole number of seconds.')
    .transform(Number)
    .pipe(
      z
        .number()
        .min(1, 'Enter at least 1 second.')
        .max(31_536_000, 'Enter at most 31,536,000 seconds (one year).'),
    ),
})

/** `products`: those that the form offers. */
export function parseApplicationForm(
  form: RawParameters,
  products: readonly string[],
): ParsedForm<ApplicationSettings> {
  const parsed = parseForm(applicationForm, form)
  const chosen = [form['product'] ?? []].flat()
  if (!chosen.every((product) => products.includes(product))) throw new PortalError('invalid_form')
  if (!parsed.data) return { state: { ...parsed.state, chosen } }
  const { response_form, lifetime_seconds, ...rest } = parsed.data
  return {
    data: { ...rest, products: chosen, responseForm: response_form, lifetimeSeconds: lifetime_seconds },
  }
}

/** The form's values for an existing application. */
export function applicationFormState(application: ApplicationSettings): FormState {
  const values = {
    name: application.name,
    level: application.level,
    response_form: application.responseForm,
    lifetime_seconds: String(application.lifetimeSeconds),
  }
  return { values, errors: {}, chosen: application.products }
}
