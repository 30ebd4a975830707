import { html, type SafeHtml } from '@remix-run/html-template'
import type { TrustedIssuer, IdentityRule } from '../../storage/storage.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, type FormState, choice, field, textArea } from '../layout/form.ts'
import { dangerRows } from '../layout/menus.ts'
import { page } from '../layout/page.ts'
import { lastUse, type LastUses } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { z } from 'zod'
import { trustedIssuerSettings, type TrustedIssuerSettings } from '../../clients/trusted-issuers.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { describeIssue, firstIssue } from '../../runtime/parse-value.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { line, optionalLine, parseForm } from '../layout/parse-form.ts'

export interface TrustedIssuersContent {
  readonly issuers: readonly TrustedIssuer[]
  readonly lastUses: LastUses
  readonly nowMs: number
  readonly state: FormState
}

/** The issuers whose JWTs are exchanged for tokens. */
export function trustedIssuersPage(
  request: DeveloperRequest,
  { issuers, lastUses, nowMs, state }: TrustedIssuersContent,
): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<p class="lead">
      CI jobs, containers and cloud machines get tokens for the JWT of their platform, without a secret.
    </p>
    ${
      issuers.length === 0
        ? html`<div class="card empty">
            <h2>No trusted issuers yet</h2>
            <p class="muted">Trust a platform to let its machines get tokens of your applications.</p>
          </div>`
        : html`<div class="card">
            <table class="stacked">
              <thead>
                <tr>
                  <th scope="col">Issuer</th>
                  <th scope="col">Applications</th>
                  <th scope="col">Last used</th>
                </tr>
              </thead>
              <tbody>
                ${issuers.map(
                  (issuer) =>
                    html`<tr>
                      <td data-label="Issuer">
                        <a href="${paths.trustedIssuer(issuer.id)}"><strong>${issuer.issuer}</strong></a>
                        ${issuer.configured ? html`<br /><span class="muted">in the configuration</span>` : ''}
                      </td>
                      <td data-label="Applications">${clientIds(issuer)}</td>
                      <td data-label="Last used">${lastUse(issuer.id, lastUses, nowMs)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
    <form method="post" action="${paths.trustedIssuers}" class="card form">
      <h2>Trust an issuer</h2>
      ${csrfInput(csrfToken)} ${issuerFields(state)}
      <button>Trust issuer</button>
    </form>`
  return page(request, { title: 'Trusted issuers', body })
}

function clientIds({ rules }: TrustedIssuer): SafeHtml {
  const names = [...new Set(rules.map(({ clientId }) => clientId))]
  const shown = names.slice(0, 3).map((name, index) => html`${index > 0 ? ', ' : ''}<code>${name}</code>`)
  return html`${shown}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`
}

/** One of them: what was chosen for it. */
export function trustedIssuerPage(
  request: DeveloperRequest,
  issuer: TrustedIssuer,
  state: FormState,
): SafeHtml {
  const { paths, csrfToken } = request
  const path = paths.trustedIssuer(issuer.id)
  const removal = dialog({
    id: 'remove',
    label: 'Remove issuer',
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
        <section class="card" aria-labelledby="more">
          <h2 id="more">Remove</h2>
          ${dangerRows([
            {
              title: 'Stop trusting this issuer',
              text: 'The tokens that were issued for its JWTs are revoked at once.',
              button: removal,
            },
          ])}
        </section>`
  return page(request, { title: issuer.issuer, body, trail: [['Trusted issuers', paths.trustedIssuers]] })
}

const issuerForm = z.object({
  issuer: line(1_000),
  jwks_url: optionalLine(1_000),
  audiences: optionalLine(5_000),
  rules: z.string().max(10_000, 'Use at most 10,000 characters.'),
  replay: z.enum(['until-expiry', 'once']),
})

const exampleRules = [{ clientId: 'orders', claims: { sub: 'repo:example/orders:*' } }]

/** JSON with one rule in a line. */
function rulesText(rules: readonly IdentityRule[]): string {
  return `[\n${rules.map((rule) => `  ${JSON.stringify(rule)}`).join(',\n')}\n]`
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
  const rules = 'Which application a JWT stands for, as JSON. A text may end with * after : or /.'
  return html`${field({ name: 'issuer', label: 'Issuer', hint: 'The iss of its JWTs, character by character.' }, state)}
  ${field({ name: 'jwks_url', label: 'URL of its JWK set', hint: 'Without one, its metadata name it.', required: false }, state)}
  ${field({ name: 'audiences', label: 'Audiences', hint: 'Separated by spaces. Without any, a JWT must be for this service.', required: false }, state)}
  ${textArea({ name: 'rules', label: 'Rules', hint: rules }, state)}
  ${choice(
    {
      name: 'replay',
      label: 'Each JWT is accepted',
      choices: [
        ['until-expiry', 'until it expires'],
        ['once', 'once, by its jti'],
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
