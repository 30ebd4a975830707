import { html, type SafeHtml } from '@remix-run/html-template'
import { z } from 'zod'
import type { RawParameters } from '../../oauth/parameters.ts'
import { choice, field, optionList, textArea, type FormState } from '../../portal/layout/form.ts'
import { describeIssue, firstIssue } from '../../runtime/parse-value.ts'
import type { ClaimPatterns, TrustedIssuer } from '../../storage/application.ts'
import { leaves, missingOwner, presetOf, within, type Preset } from './presets.ts'
import { claimPatterns, maxClaims, trustedIssuerSettings, type TrustedIssuerSettings } from './settings.ts'

type Texts = Readonly<Record<string, string>>

/** What a part of the form says, or what is wrong with it, by field. */
export type Read<Data> = { readonly data: Data } | { readonly data?: undefined; readonly errors: Texts }

/** The texts of a form, to show them again. */
export function texts(form: RawParameters): Texts {
  return Object.fromEntries(Object.entries(form).filter(([, value]) => typeof value === 'string')) as Texts
}

export const textOf = (form: RawParameters, name: string) => String(form[name] ?? '').trim()

/** What is chosen for an issuer, besides its rules. */
export type IssuerSettings = Omit<TrustedIssuerSettings, 'rules'>

/** Names of the form's fields, by those of the settings. */
const fieldNames: Readonly<Record<string, string>> = { jwksUrl: 'jwks_url', detectReplay: 'replay' }

export function readIssuer(form: RawParameters): Read<IssuerSettings> {
  const jwksUrl = textOf(form, 'jwks_url')
  const jwks = parsedJson(textOf(form, 'jwks'))
  if (jwks === null) return { errors: { jwks: 'This is not valid JSON.' } }
  const parsed = trustedIssuerSettings.omit({ rules: true }).safeParse(
    {
      issuer: textOf(form, 'issuer'),
      ...(jwksUrl !== '' && { jwksUrl }),
      ...(jwks !== undefined && { jwks }),
      audiences: textOf(form, 'audiences').split(/\s+/).filter(Boolean),
      detectReplay: textOf(form, 'replay') === 'once',
    },
    { error: describeIssue },
  )
  if (parsed.success) return { data: parsed.data }
  const errors: Record<string, string> = {}
  for (const issue of parsed.error.issues) {
    const [name, what] = firstIssue(new z.ZodError([issue]))
    const setting = /^\w+/.exec(name)?.[0] ?? ''
    errors[fieldNames[setting] ?? setting] ??= `This ${what}.`
  }
  return { errors }
}

export function issuerState({
  issuer,
  jwksUrl = '',
  jwks,
  audiences,
  detectReplay,
}: TrustedIssuer): FormState {
  const replay = detectReplay ? 'once' : 'until-expiry'
  const keys = jwks === undefined ? '' : JSON.stringify(jwks, undefined, 2)
  const values = { issuer, jwks_url: jwksUrl, jwks: keys, audiences: audiences.join(' '), replay }
  return { values, errors: {} }
}

/** How many claims a new rule has room for. */
const rows = 3
const numbers = Array.from({ length: maxClaims }, (_none, index) => index + 1)

/** The claims that a JWT of this issuer must have. Every wrong line has its own message. */
export function readClaims(form: RawParameters, issuer: string): Read<ClaimPatterns> {
  const preset = presetOf(issuer, [])
  const claims: Record<string, unknown> = {}
  const errors: Record<string, string> = {}
  for (const number of numbers) {
    const name = textOf(form, `claim_${number}`)
    const text = textOf(form, `value_${number}`)
    if (name === '' && text === '') continue
    const pasted = preset?.pasted?.[name]?.exec(text)?.[1] ?? text
    const value = textOf(form, `kind_${number}`) === 'json' ? parsedScalar(pasted) : pasted
    const error = addClaim(claims, name, value)
    if (error !== undefined) errors[`claim_${number}`] = error
  }
  if (Object.keys(errors).length > 0) return { errors }
  const parsed = claimPatterns.safeParse(claims)
  const isEmpty = Object.keys(claims).length === 0
  if (isEmpty) return { errors: { claims: 'Enter at least one claim.' } }
  if (!parsed.success)
    return { errors: { claims: 'A text can end with * only after : or /, and has no other *.' } }
  const missing = missingOwner(issuer, parsed.data)
  return missing === undefined ? { data: parsed.data } : { errors: { claims: `The claims ${missing}.` } }
}

/** The values of the form's lines. */
export function claimValues(claims: ClaimPatterns): Texts {
  const values = leaves(claims).flatMap(([name, value], index) => [
    [`claim_${index + 1}`, name],
    [`kind_${index + 1}`, typeof value === 'string' ? 'text' : 'json'],
    [`value_${index + 1}`, String(value)],
  ])
  return Object.fromEntries(values) as Texts
}

/** What the form of a new rule begins with. */
export function presetValues({ claims }: Pick<Preset, 'claims'>): Texts {
  return Object.fromEntries(Object.keys(claims).map((name, index) => [`claim_${index + 1}`, name]))
}

/** The claims as a list shows them: the first, and the rest. */
export function describeClaims(claims: ClaimPatterns): readonly [string, string?] {
  const [first = '', ...more] = leaves(claims).map(([name, value]) => `${name} = ${String(value)}`)
  return more.length === 0 ? [first] : [first, more.join(', ')]
}

export function claimFields(state: FormState, preset: Preset | undefined): SafeHtml {
  const { values, errors } = state
  const last = Math.max(
    0,
    ...numbers.filter((number) => values[`claim_${number}`] || values[`value_${number}`]),
  )
  const shown = numbers.slice(0, Math.max(rows, last + 1))
  const examples: Texts = preset?.claims ?? { sub: 'project:orders:*' }
  return html`<fieldset>
    <legend>Claims</legend>
    <p class="hint">
      A JWT must have all of them. A text can end with :* or /* for everything that starts alike. A claim
      within a claim is written as ${html`<code>kubernetes.io${within}namespace</code>`}.
    </p>
    ${preset === undefined ? '' : html`<p class="hint">${preset.title} needs ${preset.requires.map(({ what }) => what).join('; ')}.</p>`}
    ${errors['claims'] === undefined ? '' : html`<p class="error" role="alert" id="claims-error">${errors['claims']}</p>`}
    ${shown.map((number) => {
      const name = values[`claim_${number}`] ?? ''
      const error = errors[`claim_${number}`]
      const isInvalid =
        error === undefined ? '' : html`aria-invalid="true" aria-describedby="claim_${number}-error"`
      return html`<div class="claim">
          <input
            name="claim_${number}"
            value="${name}"
            aria-label="Claim ${number}"
            placeholder="${number === 1 ? 'sub' : ''}"
            autocomplete="off"
            spellcheck="false"
            ${isInvalid}
          />
          <select name="kind_${number}" aria-label="Kind of value ${number}">
            ${optionList(
              [
                ['text', 'is'],
                ['json', 'is the number, or true or false:'],
              ],
              values[`kind_${number}`],
            )}
          </select>
          <input
            name="value_${number}"
            value="${values[`value_${number}`]}"
            aria-label="Value ${number}"
            placeholder="${examples[name] ?? (number === 1 ? examples['sub'] : '')}"
            autocomplete="off"
            spellcheck="false"
            ${isInvalid}
          />
        </div>
        ${error === undefined ? '' : html`<p class="error" id="claim_${number}-error">${error}</p>`}`
    })}
  </fieldset>`
}

export function issuerField(state: FormState, preset: Preset | undefined): SafeHtml {
  const example = preset === undefined || preset.issuer !== undefined ? '' : ` ${preset.issuerExample}`
  return field(
    { name: 'issuer', label: 'Issuer', hint: `Exactly as in the claim iss of its JWTs.${example}` },
    state,
  )
}

const further = ['jwks_url', 'jwks', 'audiences', 'replay']

/** Keys, audiences and repeated JWTs. Few new issuers need them. */
export function furtherFields(state: FormState): SafeHtml {
  return html`${field({ name: 'jwks_url', label: 'URL of its JWK set', hint: 'If empty, the URL is taken from the metadata of the issuer.', required: false }, state)}
  ${textArea({ name: 'jwks', label: 'JWK set', hint: 'Its public keys themselves, instead of a URL, such as those of a cluster that cannot be reached.', required: false, isCode: true }, state)}
  ${field({ name: 'audiences', label: 'Audiences', hint: 'Values of the claim aud to accept, separated by spaces. If empty, it must be the URL of this service.', required: false }, state)}
  ${choice(
    {
      name: 'replay',
      label: 'A JWT is accepted',
      choices: [
        ['until-expiry', 'Until it expires'],
        ['once', 'Only once (requires the claim jti)'],
      ],
    },
    state,
  )}`
}

export function foldedFurtherFields(state: FormState): SafeHtml {
  const isWrong = further.some((name) => state.errors[name] !== undefined)
  return html`<details ${isWrong ? html`open` : ''}>
    <summary>Keys, audiences and repeated JWTs</summary>
    ${furtherFields(state)}
  </details>`
}

/** `undefined` for an empty text, `null` for an invalid one. */
function parsedJson(text: string): object | null | undefined {
  if (text === '') return undefined
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

function parsedScalar(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined
}

/** Returns what is wrong with it. */
function addClaim(claims: Record<string, unknown>, name: string, value: unknown): string | undefined {
  if (name === '') return `Enter the claim that is “${String(value)}”.`
  if (value === '') return `Enter the value of ${name}, or clear the claim.`
  if (value === undefined) return `Enter a number, true or false as the value of ${name}.`
  const path = name.split(within.trim()).map((part) => part.trim())
  if (path.includes('')) return `“${name}” is not the name of a claim.`
  let parent = claims
  for (const part of path.slice(0, -1)) {
    if (!Object.hasOwn(parent, part)) define(parent, part, {})
    const next = parent[part]
    if (typeof next !== 'object' || next === null) return `${name} is listed twice.`
    parent = next as Record<string, unknown>
  }
  const last = path.at(-1) ?? ''
  if (Object.hasOwn(parent, last)) return `${name} is listed twice.`
  define(parent, last, value)
  return undefined
}

/** Also for a claim that is called `__proto__`. */
function define(claims: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(claims, name, { value, enumerable: true, configurable: true, writable: true })
}
