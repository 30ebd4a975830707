import { z } from 'zod'
import type { Application } from '../applications/application.ts'
import { applicationSchema } from '../applications/application-options.ts'
import { line, parseForm, type ParsedForm } from './page/parse-form.ts'
import type { RawParameters } from '../http/parameters.ts'

const { responseForm } = applicationSchema.shape
const maxProducts = 100

const products = z.string().transform((text, context) => {
  const names = text
    .split(/[,\n]/)
    .map((name) => name.trim())
    .filter(Boolean)
  const bad = names.find((name) => !/^[^[\]\p{Cc}]{1,200}$/u.test(name))
  if (bad !== undefined || names.length > maxProducts) {
    context.addIssue(`At most ${maxProducts} products, of names without brackets, please.`)
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
    .regex(/^ *\d{1,8} *$/, 'A whole number of seconds, please.')
    .transform(Number)
    .pipe(z.number().min(1, 'At least one second.').max(31_536_000, 'At most 31,536,000 seconds, a year.')),
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

/** What the form shows of an application that is there. */
export function applicationValues(application: ApplicationSettings): Record<string, string> {
  return {
    name: application.name,
    products: application.products.join(', '),
    level: application.level,
    response_form: application.responseForm,
    lifetime_seconds: String(application.lifetimeSeconds),
  }
}
