import { z } from 'zod'
import {
  audiencePattern,
  defaultLifetimeSeconds,
  lacksAudience,
  responseForms,
  tokenFormats,
} from '../../features/applications/options.ts'
import { maxNoteLength } from '../../features/applications/settings.ts'
import type { Application, ApplicationSettings } from '../../storage/application.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { FormState } from '../layout/form.ts'
import { PortalError } from '../portal-error.ts'
import { line, optionalLine, optionalText, parseForm, type ParsedForm } from '../layout/parse-form.ts'

/** The units of a lifetime, with their seconds. */
export const lifetimeUnits = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const

/** How the values of a choice are called. */
export const labels = {
  tokenFormat: { opaque: 'Opaque', jwt: 'JWT (RFC 9068)' },
  responseForm: {
    products: 'With a list of API products',
    refresh: 'With the level and an empty refresh token',
    rfc6749: 'As in RFC 6749, with expires_in as a number',
  },
} as const

const applicationForm = z.object({
  name: line(200),
  level: optionalLine(200),
  response_form: z.enum(responseForms),
  lifetime: z
    .string()
    .regex(/^ *\d{1,8} *$/, 'Enter a whole number.')
    .transform(Number)
    .refine((lifetime) => lifetime > 0, 'Enter at least 1 second.'),
  lifetime_unit: z.enum(lifetimeUnits.map(([unit]) => unit)),
  token_format: z.enum(tokenFormats),
  audiences: z
    .string()
    .transform((text) => [...new Set(text.split(/\s+/).filter(Boolean))])
    .refine(
      (names) => names.every((name) => audiencePattern.test(name)),
      'Enter URIs, or names of ASCII characters.',
    )
    .refine((names) => names.length <= 20, 'Enter at most 20.'),
  note: optionalText(maxNoteLength),
})
const lifetimeSeconds = z
  .number()
  .min(1, 'Enter at least 1 second.')
  .max(31_536_000, 'Enter at most 365 days.')

/** What the form offers. */
export interface Offered {
  readonly products: readonly string[]
  readonly scopes: readonly string[]
}

export function parseApplicationForm(
  form: RawParameters,
  { products, scopes }: Offered,
): ParsedForm<ApplicationSettings & { readonly note: string }> {
  const parsed = parseForm(applicationForm, form)
  const chosen = [form['product'] ?? []].flat()
  const chosenScopes = [form['scope'] ?? []].flat()
  const isOffered =
    chosen.every((product) => products.includes(product)) &&
    chosenScopes.every((scope) => scopes.includes(scope))
  if (!isOffered) throw new PortalError('invalid_form')
  if (!parsed.data) return { state: { ...parsed.state, chosen, chosenScopes } }
  const { response_form, lifetime, lifetime_unit, token_format, ...rest } = parsed.data
  const tokens = { tokenFormat: token_format, audiences: rest.audiences }
  const unit = lifetimeUnits.find(([name]) => name === lifetime_unit)?.[1] ?? 1
  const seconds = lifetimeSeconds.safeParse(lifetime * unit)
  if (!seconds.success || lacksAudience(tokens)) {
    const values = form as Record<string, string>
    const errors: Record<string, string> = seconds.success
      ? { audiences: 'Enter the API that the tokens are for.' }
      : { lifetime: seconds.error.issues[0]?.message ?? '' }
    return { state: { values, errors, chosen, chosenScopes } }
  }
  return {
    data: {
      ...rest,
      products: chosen,
      scopes: chosenScopes,
      responseForm: response_form,
      lifetimeSeconds: seconds.data,
      ...tokens,
    },
  }
}

/** What the form of a new application suggests. */
export const newApplication: ApplicationSettings = {
  name: '',
  products: [],
  scopes: [],
  level: '',
  responseForm: 'products',
  lifetimeSeconds: defaultLifetimeSeconds,
  tokenFormat: 'opaque',
  audiences: [],
}

/** The form's values for an existing application; the type check names a missing one. */
export function applicationFormState(
  application: ApplicationSettings & Pick<Application, 'review'>,
): FormState {
  const { lifetimeSeconds: seconds } = application
  const [unit, size] = lifetimeUnits.find(([, each]) => seconds % each === 0) ?? ['seconds', 1]
  const values: Record<keyof z.input<typeof applicationForm>, string> = {
    name: application.name,
    level: application.level,
    response_form: application.responseForm,
    lifetime: String(seconds / size),
    lifetime_unit: unit,
    token_format: application.tokenFormat,
    audiences: application.audiences.join(' '),
    note: application.review?.note ?? '',
  }
  return { values, errors: {}, chosen: application.products, chosenScopes: application.scopes }
}
