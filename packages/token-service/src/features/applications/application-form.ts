import type { CatalogueEntry } from '../catalogue/storage.ts'
import { catalogueHints } from '../catalogue/hints.ts'
import { scopeList, scopePicker } from './scope-picker.ts'
import { html, type SafeHtml } from '@remix-run/html-template'
import { z } from 'zod'
import { audiencePattern } from '../catalogue/settings.ts'
import {
  defaultLifetimeSeconds,
  dpopUses,
  lacksAudience,
  maxLifetimeSeconds,
  maxNoteLength,
  responseForms,
  tokenFormats,
} from './settings.ts'
import type { Application, ApplicationSettings, Approval } from '../../storage/application.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { checkboxes, choice, field, optionList, type FormState } from '../../portal/layout/form.ts'
import { absent, duration, time } from '../../portal/layout/time.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { parseForm, type ParsedForm } from '../../portal/layout/parse-form.ts'
import { line, optionalLine, optionalText } from '../../runtime/bounds.ts'

/** The units of a lifetime, with their seconds. */
const lifetimeUnits = [
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const

/** How the values of a choice are called. */
const labels = {
  tokenFormat: { opaque: 'Opaque', jwt: 'JWT (RFC 9068)' },
  dpop: {
    none: 'Never',
    allowed: 'If a token request has a DPoP proof',
    required: 'Always: token requests without a DPoP proof are rejected',
  },
  responseForm: {
    products: 'With a list of API products',
    refresh: 'With the level and an empty refresh token',
    rfc6749: 'As in RFC 6749, with expires_in as a number',
  },
} as const

/** Separated by spaces. */
export const audienceNames = z
  .string()
  .transform((text) => [...new Set(text.split(/\s+/).filter(Boolean))])
  .refine(
    (names) => names.every((name) => audiencePattern.test(name)),
    'Enter URIs, or names of ASCII characters.',
  )
  .refine((names) => names.length <= 20, 'Enter at most 20.')

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
  dpop: z.enum(dpopUses),
  audiences: audienceNames,
  note: optionalText(maxNoteLength),
})

/** What is said about products, and known of scopes, by name. */
export interface CatalogueHints {
  readonly products: ReadonlyMap<string, string>
  readonly scopes: ReadonlyMap<string, CatalogueEntry>
}

/** What the form offers. */
export interface Offered {
  readonly products: readonly string[]
  readonly scopes: readonly string[]
  readonly hints: CatalogueHints
}

export function parseApplicationForm(
  form: RawParameters,
  { products, scopes }: Pick<Offered, 'products' | 'scopes'>,
): ParsedForm<ApplicationSettings & { readonly note: string }> {
  const parsed = parseForm(applicationForm, form)
  const chosen = [form['product'] ?? []].flat()
  const chosenScopes = [form['scope'] ?? []].flat()
  const isOffered =
    chosen.every((product) => products.includes(product)) &&
    chosenScopes.every((scope) => scopes.includes(scope))
  if (!isOffered) throw new PortalError('invalid_form')
  if (!parsed.data) return { state: { ...sentForm(form), errors: parsed.state.errors } }
  const { response_form, lifetime, lifetime_unit, token_format, ...rest } = parsed.data
  const tokens = { tokenFormat: token_format, audiences: rest.audiences }
  const unit = lifetimeUnits.find(([name]) => name === lifetime_unit)?.[1] ?? 1
  const lifetimeSeconds = lifetime * unit
  const isTooLong = lifetimeSeconds > maxLifetimeSeconds
  if (isTooLong || lacksAudience(tokens)) {
    const errors: Record<string, string> = isTooLong
      ? { lifetime: `Enter at most ${maxLifetimeSeconds / 86_400} days.` }
      : { audiences: 'Enter the API that the tokens are for.' }
    return { state: { ...sentForm(form), errors } }
  }
  return {
    data: {
      ...rest,
      products: chosen,
      scopes: chosenScopes,
      responseForm: response_form,
      lifetimeSeconds,
      ...tokens,
    },
  }
}

/** The form as it was sent, to show it again. */
export function sentForm(form: RawParameters): FormState {
  const texts = Object.entries(form).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  )
  return {
    values: Object.fromEntries(texts),
    errors: {},
    chosen: [form['product'] ?? []].flat(),
    chosenScopes: [form['scope'] ?? []].flat(),
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
  dpop: 'allowed',
}

/** The form's values for an existing application; the type check names a missing one. */
export function applicationFormState(
  application: ApplicationSettings & Pick<Application, 'review'>,
): FormState {
  const { lifetimeSeconds: seconds } = application
  const [unit, size] = lifetimeUnits.find(([, each]) => seconds % each === 0) ?? ['seconds', 1]
  const values: Record<keyof z.output<typeof applicationForm>, string> = {
    name: application.name,
    level: application.level,
    response_form: application.responseForm,
    lifetime: String(seconds / size),
    lifetime_unit: unit,
    token_format: application.tokenFormat,
    audiences: application.audiences.join(' '),
    dpop: application.dpop,
    note: application.review?.note ?? '',
  }
  return { values, errors: {}, chosen: application.products, chosenScopes: application.scopes }
}

export interface SettingsContent extends Offered {
  readonly state: FormState
}

/** The fields of the form; the type check names a missing one. */
export function settingsFields({ products, scopes, hints, state }: SettingsContent): SafeHtml {
  const unit = html`<select name="lifetime_unit" aria-label="Unit of the token lifetime">
    ${optionList(
      lifetimeUnits.map(([name]) => [name, name]),
      state.values['lifetime_unit'],
    )}
  </select>`
  const fields: Record<keyof ApplicationSettings, SafeHtml | ''> = {
    name: field({ name: 'name', label: 'Application name' }, state),
    products:
      products.length === 0
        ? ''
        : checkboxes(
            {
              name: 'product',
              label: 'API products',
              hint: 'The products that its tokens are valid for.',
              choices: products,
              hints: hints.products,
            },
            state,
          ),
    scopes: scopePicker({ scopes, entries: hints.scopes }, state),
    lifetimeSeconds: field({ name: 'lifetime', label: 'Token lifetime', type: 'number', after: unit }, state),
    tokenFormat: choice(
      {
        name: 'token_format',
        label: 'Token format',
        hint: 'APIs introspect opaque tokens. They verify JWTs themselves, and accept them until they expire.',
        choices: Object.entries(labels.tokenFormat),
      },
      state,
    ),
    audiences: field(
      {
        name: 'audiences',
        label: 'Audiences',
        hint: 'The APIs that its tokens are for, separated by spaces. JWTs need at least one.',
        required: false,
      },
      state,
    ),
    dpop: choice(
      {
        name: 'dpop',
        label: 'Tokens bound to a key',
        hint: 'A bound token is useless to others: each request with it needs a proof by its key (RFC 9449).',
        choices: Object.entries(labels.dpop),
      },
      state,
    ),
    responseForm: choice(
      {
        name: 'response_form',
        label: 'Token response',
        choices: Object.entries(labels.responseForm),
      },
      state,
    ),
    level: field(
      {
        name: 'level',
        label: 'Level',
        hint: `Only for the token response “${labels.responseForm.refresh}”.`,
        required: false,
      },
      state,
    ),
  }
  const { name, products: chosen, scopes: chosenScopes, lifetimeSeconds, ...further } = fields
  return html`${name} ${chosen} ${chosenScopes} ${lifetimeSeconds}
    <details ${isSuggested(state) ? '' : html`open`}>
      <summary>Format, audiences and binding of tokens</summary>
      ${Object.values(further)}
    </details>`
}

/** Whether what few applications need is as the form of a new one suggests. */
function isSuggested({ values, errors }: FormState): boolean {
  const unfolded = ['name', 'lifetime', 'lifetime_unit', 'note']
  return Object.entries(applicationFormState(newApplication).values).every(
    ([name, suggested]) =>
      unfolded.includes(name) || (errors[name] === undefined && values[name] === suggested),
  )
}

/** The settings of an application; the type check names a missing one. */
export function settingsList(application: Application): SafeHtml {
  const { products, scopes, level, responseForm, lifetimeSeconds, createdAtMs } = application
  const { tokenFormat, audiences, dpop } = application
  // The name is the title of the page.
  const settings: Record<Exclude<keyof ApplicationSettings, 'name'>, readonly [string, SafeHtml | string]> = {
    products: ['API products', products.join(', ') || absent()],
    scopes: ['Scopes', scopes.length === 0 ? absent() : scopeList(scopes)],
    lifetimeSeconds: ['Token lifetime', duration(lifetimeSeconds)],
    tokenFormat: ['Token format', labels.tokenFormat[tokenFormat]],
    audiences: ['Audiences', audiences.join(' ') || absent()],
    dpop: ['Tokens bound to a key', labels.dpop[dpop]],
    responseForm: ['Token response', labels.responseForm[responseForm]],
    level: ['Level', level || absent()],
  }
  return html`<dl class="pairs">
    ${[...Object.values(settings), ['Created', time(createdAtMs)] as const].map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}

/** What kind of tokens an application gets, for which APIs, and whether they are bound to a key. */
export function kindOfTokens({
  tokenFormat,
  audiences,
  dpop,
}: Pick<Approval, 'tokenFormat' | 'audiences' | 'dpop'>): string {
  const kind = getsJwts({ tokenFormat }) ? 'JWTs' : 'opaque tokens'
  const apis = audiences.length > 0 ? ` for ${audiences.join(', ')}` : ''
  return `${kind}${apis}${dpop === 'allowed' ? '' : `, ${bindingTexts[dpop]}`}`
}

export const bindingTexts = {
  none: 'tokens that are never bound to a key',
  allowed: 'tokens that are bound to a key if there is a proof',
  required: 'tokens that are bound to a key',
} as const

export function getsJwts({ tokenFormat }: Partial<Approval>): boolean {
  return tokenFormat === 'jwt'
}

/** What those who choose products and scopes read of them. */
export function catalogueFacts(
  products: readonly CatalogueEntry[],
  scopes: readonly CatalogueEntry[],
): CatalogueHints {
  return { products: catalogueHints(products), scopes: new Map(scopes.map((scope) => [scope.name, scope])) }
}
