import { z } from 'zod'
import type { Application } from '@tokenwell/token-service/plugin'
import { applicationSchema } from '@tokenwell/token-service/plugin'
import { line, parseForm, type ParsedForm } from './parse-form.ts'
import type { RawParameters } from '@tokenwell/token-service/plugin'

const { responseForm } = applicationSchema.shape
const maxProducts = 100

const products = z.string().transform((text, context) => {
  const names = text
    .split(/[,\n]/)
    .map((name) => name.trim())
    .filter(Boolean)
  const invalid = names.find((name) => !/^[^[\]\p{Cc}]{1,200}$/u.test(name))
  if (invalid !== undefined || names.length > maxProducts) {
    context.addIssue(`Enter at most ${maxProducts} products, without brackets in their names.`)
  }
  return [...new Set(names)]
})

const applicationForm = z.object({
  name: line(200),
  products,
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

export type ApplicationSettings = Pick<
  Application,
  'name' | 'products' | 'level' | 'responseForm' | 'lifetimeSeconds'
>

export function parseApplicationForm(form: RawParameters): ParsedForm<ApplicationSettings> {
  const parsed = parseForm(applicationForm, form)
  if (!parsed.data) return parsed
  const { response_form, lifetime_seconds, ...rest } = parsed.data
  return { data: { ...rest, responseForm: response_form, lifetimeSeconds: lifetime_seconds } }
}

/** The form's values for an existing application. */
export function applicationValues(application: ApplicationSettings): Record<string, string> {
  return {
    name: application.name,
    products: application.products.join(', '),
    level: application.level,
    response_form: application.responseForm,
    lifetime_seconds: String(application.lifetimeSeconds),
  }
}
