import { html, type SafeHtml } from '@remix-run/html-template'
import type { IdentityRule, RegisteredClient } from '../../storage/application.ts'
import type { TrustedIssuer } from '../../storage/storage.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, type FormState, choice, field, textArea } from '../layout/form.ts'
import { list, named, names, type Column } from '../layout/list.ts'
import { dangerSection } from '../layout/menus.ts'
import type { PageContent } from '../layout/page.ts'
import { lastUse, type LastUses } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { z } from 'zod'
import { trustedIssuerSettings, type TrustedIssuerSettings } from '../../features/trusted-issuers/acts.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { describeIssue, firstIssue } from '../../runtime/parse-value.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { line, optionalLine, parseForm } from '../layout/parse-form.ts'

export interface TrustedIssuersContent {
  readonly issuers: readonly TrustedIssuer[]
  /** Those of their rules, as far as they exist. */
  readonly applications: readonly RegisteredClient[]
  readonly lastUses: LastUses
  readonly nowMs: number
  readonly state: FormState
}

/** The issuers whose JWTs are exchanged for tokens. */
export function trustedIssuersPage(
  request: DeveloperRequest,
  { issuers, applications, lastUses, nowMs, state }: TrustedIssuersContent,
): PageContent {
  const { paths, csrfToken } = request
  const applicationNames = new Map(
    applications.map(({ application: { clientId, name } }) => [clientId, name] as const),
  )
  const columns: readonly Column<TrustedIssuer>[] = [
    {
      label: 'Issuer',
      kind: 'name',
      cell: ({ issuer, id, configured }) =>
        named({
          name: issuer,
          href: paths.trustedIssuer(id),
          below: configured ? 'In the configuration' : undefined,
        }),
    },
    {
      label: 'Applications',
      kind: 'text',
      leaves: 1,
      cell: ({ rules }) =>
        names([...new Set(rules.map(({ clientId }) => applicationNames.get(clientId) ?? clientId))]),
    },
    { label: 'Last used', kind: 'time', cell: ({ id }) => lastUse(id, lastUses, nowMs) },
  ]
  const body = html`<p class="lead">
      A platform issues JWTs to its CI jobs, containers or virtual machines. They exchange such a JWT for an
      access token of an application, and need no client secret.
    </p>
    ${list(columns, issuers, {
      label: 'Trusted issuers',
      empty: html`<div class="empty">
        <h2>No trusted issuers yet</h2>
        <p class="muted">Trust a platform, and its jobs can get tokens of your applications.</p>
      </div>`,
    })}
    <form method="post" action="${paths.trustedIssuers}" class="card form">
      <h2>Trust an issuer</h2>
      ${csrfInput(csrfToken)} ${issuerFields(state)}
      <button>Trust issuer</button>
    </form>`
  return { title: 'Trusted issuers', body }
}

/** One of them: what was chosen for it. */
export function trustedIssuerPage(
  request: DeveloperRequest,
  issuer: TrustedIssuer,
  state: FormState,
): PageContent {
  const { paths, csrfToken } = request
  const path = paths.trustedIssuer(issuer.id)
  const removal = dialog({
    id: 'remove',
    label: html`Remove<span class="visually-hidden"> issuer</span>`,
    title: 'Stop trusting this issuer?',
    body: html`<p>
      The tokens that were issued for its JWTs are revoked, and its machines get no new ones.
    </p>`,
    action: paths.trustedIssuerRemoval(issuer.id),
    confirm: 'Remove issuer',
    csrfToken,
    danger: true,
  })
  const body = issuer.configured
    ? html`<div class="card">
        <p>This issuer is in the configuration of the service. Change it there.</p>
        <pre tabindex="0" role="region" aria-label="Rules"><code>${state.values['rules']}</code></pre>
      </div>`
    : html`<form method="post" action="${path}" class="card form">
          ${csrfInput(csrfToken)} ${issuerFields(state)}
          <button>Save</button>
        </form>
        ${dangerSection('Remove', [
          {
            title: 'Stop trusting this issuer',
            text: 'The tokens that were issued for its JWTs are revoked at once.',
            button: removal,
          },
        ])}`
  return { title: issuer.issuer, body, trail: [['Trusted issuers', paths.trustedIssuers]] }
}

const issuerForm = z.object({
  issuer: line(1_000),
  jwks_url: optionalLine(1_000),
  audiences: optionalLine(5_000),
  rules: z.string().max(10_000, 'Use at most 10,000 characters.'),
  replay: z.enum(['until-expiry', 'once']),
})

const exampleRules = [{ clientId: 'orders', claims: { sub: 'repo:example/orders:*' } }]

function rulesText(rules: readonly IdentityRule[]): string {
  return JSON.stringify(rules, null, 2)
}

export const newIssuerState: FormState = {
  values: { rules: rulesText(exampleRules), replay: 'until-expiry' },
  errors: {},
}

export function issuerState(issuer: TrustedIssuer): FormState {
  return {
    values: {
      issuer: issuer.issuer,
      jwks_url: issuer.jwksUrl ?? '',
      audiences: issuer.audiences.join(' '),
      rules: rulesText(issuer.rules),
      replay: issuer.detectReplay ? 'once' : 'until-expiry',
    },
    errors: {},
  }
}

function issuerFields(state: FormState): SafeHtml {
  const rules =
    'JSON. A JWT with these claims gets tokens of the application with this client ID. A claim can end with :* or /* to accept everything that starts alike.'
  return html`${field({ name: 'issuer', label: 'Issuer', hint: 'Exactly as in the claim iss of its JWTs.' }, state)}
  ${field({ name: 'jwks_url', label: 'URL of its JWK set', hint: 'If empty, the URL is taken from the metadata of the issuer.', required: false }, state)}
  ${field({ name: 'audiences', label: 'Audiences', hint: 'Values of the claim aud to accept, separated by spaces. If empty, it must be the URL of this service.', required: false }, state)}
  ${textArea({ name: 'rules', label: 'Rules', hint: rules, isCode: true, rows: 10 }, state)}
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

/** Saves what the form says; returns what is wrong with it. */
export async function saveIssuer(
  form: RawParameters,
  save: (settings: TrustedIssuerSettings) => Promise<unknown>,
): Promise<FormState | undefined> {
  const parsed = parseForm(issuerForm, form)
  if (!parsed.data) return parsed.state
  const { issuer, jwks_url: jwksUrl, audiences, rules, replay } = parsed.data
  const wrong = (name: string, error: string): FormState => ({
    values: parsed.data,
    errors: { [name]: error },
  })
  const settings = trustedIssuerSettings.safeParse(
    {
      issuer,
      ...(jwksUrl && { jwksUrl }),
      audiences: audiences.split(' ').filter(Boolean),
      rules: parseJson(rules),
      detectReplay: replay === 'once',
    },
    { error: describeIssue },
  )
  if (!settings.success) {
    const [name, what] = firstIssue(settings.error)
    return wrong(name === 'jwksUrl' ? 'jwks_url' : /^\w+/.exec(name)![0], `${name} ${what}.`)
  }
  try {
    await save(settings.data)
    return undefined
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    return wrong(error instanceof NotFoundError ? 'rules' : 'issuer', error.message)
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
