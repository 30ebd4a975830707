import { html, type SafeHtml } from '@remix-run/html-template'
import { z } from 'zod'
import { field, optionList, choice, type FormState } from '../../portal/layout/form.ts'
import { line, optionalLine, parseForm, type ParsedForm } from '../../portal/layout/parse-form.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { ClaimPatterns, IdentityRule } from '../../storage/application.ts'
import type { TrustedIssuer } from '../../storage/application.ts'
import { claimPatterns, maxClaims } from './settings.ts'

/** What a form asks about the JWTs of a kind of platform, instead of their claims. */
export interface Platform {
  readonly title: string
  /** Who gets tokens from it. */
  readonly about: string
  /** Its issuer, if all of its users share one. */
  readonly issuer?: string | undefined
  /** An example of it otherwise. */
  readonly issuerHint?: string | undefined
  fields(state: FormState): SafeHtml
  parse(form: RawParameters): ParsedForm<ClaimPatterns>
  /** What the fields say about these claims; `undefined` if the claims say something else. */
  valuesOf(claims: ClaimPatterns): Readonly<Record<string, string>> | undefined
  /** The same in a list: what matters most, and the rest. */
  describe(claims: ClaimPatterns): readonly [string, string?]
  /** What a rule is about. */
  readonly subject: string
}

export const platformNames = ['github', 'kubernetes', 'other'] as const
export type PlatformName = (typeof platformNames)[number]

const wrong = (values: Readonly<Record<string, string>>, name: string, message: string) => ({
  state: { values, errors: { [name]: message } },
})

const githubForm = z.object({
  repository: line(200).regex(
    /^[\w.-]+\/(?:[\w.-]+|\*)$/,
    'Enter owner/repository, or owner/* for all repositories of the owner.',
  ),
  jobs: z.enum(['any', 'branch', 'tag', 'environment']),
  of: optionalLine(300),
})
const text = z.string().optional()
const githubClaims = z.strictObject({
  repository: text,
  repository_owner: text,
  ref: text,
  environment: text,
})
const refPrefixes = { branch: 'refs/heads/', tag: 'refs/tags/' } as const

// `repository` and `ref`, not `sub`: repositories can choose what their `sub` says.
const github: Platform = {
  title: 'GitHub Actions',
  subject: 'Jobs of',
  about: 'The jobs of a repository, or only those of one of its branches, tags or environments.',
  issuer: 'https://token.actions.githubusercontent.com',
  fields: (state) =>
    html`${field(
      {
        name: 'repository',
        label: 'Repository',
        hint: 'Such as example/orders, or example/* for all repositories of an owner.',
      },
      state,
    )}
    ${choice(
      {
        name: 'jobs',
        label: 'Jobs',
        choices: [
          ['any', 'Every job'],
          ['branch', 'Only jobs of this branch'],
          ['tag', 'Only jobs of these tags'],
          ['environment', 'Only jobs of this environment'],
        ],
      },
      state,
    )}
    ${field(
      {
        name: 'of',
        label: 'Branch, tag or environment',
        hint: 'Such as main, releases/* or production.',
        required: false,
      },
      state,
    )}`,
  parse(form) {
    const parsed = parseForm(githubForm, form)
    if (!parsed.data) return parsed
    const { repository, jobs, of } = parsed.data
    if (jobs === 'any' && of !== '') return wrong(parsed.data, 'jobs', 'Choose what the name below is.')
    if (jobs !== 'any' && of === '') return wrong(parsed.data, 'of', 'Enter a name, or choose every job.')
    const [owner = ''] = repository.split('/')
    const from: Record<string, string> = repository.endsWith('/*')
      ? { repository_owner: owner }
      : { repository }
    if (jobs === 'any') return checked(parsed.data, 'repository', from)
    return checked(
      parsed.data,
      'of',
      jobs === 'environment' ? { ...from, environment: of } : { ...from, ref: refPrefixes[jobs] + of },
    )
  },
  valuesOf(claims) {
    const {
      repository,
      repository_owner: owner,
      ref,
      environment,
    } = githubClaims.safeParse(claims).data ?? {}
    const from = repository ?? (owner === undefined ? undefined : `${owner}/*`)
    if (from === undefined || (repository !== undefined && owner !== undefined)) return undefined
    if (environment !== undefined)
      return ref === undefined ? { repository: from, jobs: 'environment', of: environment } : undefined
    if (ref === undefined) return { repository: from, jobs: 'any', of: '' }
    for (const [jobs, prefix] of Object.entries(refPrefixes)) {
      if (ref.startsWith(prefix)) return { repository: from, jobs, of: ref.slice(prefix.length) }
    }
    return undefined
  },
  describe(claims) {
    const { repository, jobs, of } = github.valuesOf(claims) ?? {}
    if (repository === undefined) return other.describe(claims)
    return [repository, jobs === 'any' ? 'every job' : `${jobs} ${of}`]
  },
}

const kubernetesName = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/
const kubernetesForm = z.object({
  namespace: line(253).regex(kubernetesName, 'Use lower-case letters, digits and hyphens.'),
  service_account: optionalLine(253).refine(
    (name) => name === '' || kubernetesName.test(name),
    'Use lower-case letters, digits, hyphens and dots.',
  ),
})

const kubernetes: Platform = {
  title: 'Kubernetes',
  subject: 'Pods of',
  about: 'The pods of a service account, or of a whole namespace.',
  issuerHint: 'The member issuer of: kubectl get --raw /.well-known/openid-configuration',
  fields: (state) =>
    html`${field({ name: 'namespace', label: 'Namespace', hint: 'Such as orders.' }, state)}
    ${field(
      {
        name: 'service_account',
        label: 'Service account',
        hint: 'If empty, all service accounts of the namespace.',
        required: false,
      },
      state,
    )}`,
  parse(form) {
    const parsed = parseForm(kubernetesForm, form)
    if (!parsed.data) return parsed
    const { namespace, service_account: name } = parsed.data
    return { data: { sub: `system:serviceaccount:${namespace}:${name || '*'}` } }
  },
  valuesOf({ sub, ...rest }) {
    if (typeof sub !== 'string' || Object.keys(rest).length > 0) return undefined
    const [, namespace, name] = /^system:serviceaccount:([^:*]+):([^:*]+|\*)$/.exec(sub) ?? []
    if (namespace === undefined || name === undefined) return undefined
    return { namespace, service_account: name === '*' ? '' : name }
  },
  describe(claims) {
    const { namespace, service_account: name } = kubernetes.valuesOf(claims) ?? {}
    if (namespace === undefined) return other.describe(claims)
    return name === '' ? [namespace, 'every service account'] : [`${namespace}/${name}`]
  },
}

/** Between the names of a claim within a claim: names contain dots, slashes and colons, but not this. */
const within = ' > '
/** How many claims a new rule has room for. */
const rows = 3
const numbers = Array.from({ length: maxClaims }, (_none, index) => index + 1)

const other: Platform = {
  title: 'Another platform',
  subject: 'Claims',
  about: 'Whatever issues JWTs: the claims that they must have.',
  fields(state) {
    const filled = numbers.filter((number) => state.values[`claim_${number}`] !== undefined)
    const shown = numbers.slice(0, Math.max(rows, filled.length + 1))
    const error = state.errors['claims']
    return html`<fieldset>
      <legend>Claims</legend>
      <p class="hint">
        A JWT must have all of them. A text can end with :* or /* for everything that starts alike. A claim
        within a claim is written as ${html`<code>kubernetes.io${within}namespace</code>`}.
      </p>
      ${error === undefined ? '' : html`<p class="error" role="alert">${error}</p>`}
      ${shown.map(
        (number) =>
          html`<div class="claim">
            <input
              name="claim_${number}"
              value="${state.values[`claim_${number}`]}"
              aria-label="Claim ${number}"
              placeholder="${number === 1 ? 'sub' : ''}"
              autocomplete="off"
              spellcheck="false"
            />
            <select name="kind_${number}" aria-label="Kind of value ${number}">
              ${optionList(
                [
                  ['text', 'is'],
                  ['json', 'is the number, or true or false:'],
                ],
                state.values[`kind_${number}`],
              )}
            </select>
            <input
              name="value_${number}"
              value="${state.values[`value_${number}`]}"
              aria-label="Value ${number}"
              placeholder="${number === 1 ? 'project:orders:*' : ''}"
              autocomplete="off"
              spellcheck="false"
            />
          </div>`,
      )}
    </fieldset>`
  },
  parse(form) {
    const values: Record<string, string> = {}
    const claims: Record<string, unknown> = {}
    let error: string | undefined
    for (const number of numbers) {
      const [name, kind, value] = ['claim', 'kind', 'value'].map((each) =>
        String(form[`${each}_${number}`] ?? '').trim(),
      ) as [string, string, string]
      if (name === '' && value === '') continue
      Object.assign(values, {
        [`claim_${number}`]: name,
        [`kind_${number}`]: kind,
        [`value_${number}`]: value,
      })
      error ??= addClaim(claims, name, kind === 'json' ? parsedScalar(value) : value)
    }
    if (error !== undefined) return wrong(values, 'claims', error)
    return checked(values, 'claims', claims)
  },
  valuesOf(claims) {
    const values = leaves(claims).flatMap(([name, value], index) => [
      [`claim_${index + 1}`, name],
      [`kind_${index + 1}`, typeof value === 'string' ? 'text' : 'json'],
      [`value_${index + 1}`, String(value)],
    ])
    return Object.fromEntries(values) as Record<string, string>
  },
  describe(claims) {
    const [first = '', ...more] = leaves(claims).map(([name, value]) => `${name} = ${String(value)}`)
    return more.length === 0 ? [first] : [first, more.join(', ')]
  },
}

export const platforms: Readonly<Record<PlatformName, Platform>> = { github, kubernetes, other }

/** Which form fits an issuer that is trusted already. */
export function platformOf({ issuer, rules }: Pick<TrustedIssuer, 'issuer' | 'rules'>): PlatformName {
  if (issuer === github.issuer) return 'github'
  return rules.every(({ claims }) => kubernetes.valuesOf(claims)) ? 'kubernetes' : 'other'
}

/** Which form shows a rule of an issuer. */
export function platformOfRule(issuer: PlatformName, { claims }: IdentityRule): PlatformName {
  return platforms[issuer].valuesOf(claims) ? issuer : 'other'
}

/** Claims that no rule may have are reported at that field. */
function checked(
  values: Readonly<Record<string, string>>,
  name: string,
  claims: Readonly<Record<string, unknown>>,
): ParsedForm<ClaimPatterns> {
  const result = claimPatterns.safeParse(claims)
  if (result.success) return { data: result.data }
  const isEmpty = Object.keys(claims).length === 0
  return wrong(
    values,
    name,
    isEmpty ? 'Enter at least one claim.' : 'A text can end with * only after : or /, and has no other *.',
  )
}

function parsedScalar(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true'
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined
}

/** Returns what is wrong with it. */
function addClaim(claims: Record<string, unknown>, name: string, value: unknown): string | undefined {
  if (name === '') return `Enter the claim that is “${String(value)}”.`
  if (value === '') return `Enter the value of ${name}.`
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

type Leaf = readonly [name: string, value: string | number | boolean]

function leaves(claims: ClaimPatterns, prefix = ''): Leaf[] {
  return Object.entries(claims).flatMap(([name, value]): Leaf[] =>
    typeof value === 'object' ? leaves(value, `${prefix}${name}${within}`) : [[`${prefix}${name}`, value]],
  )
}
