import { html, type SafeHtml } from '@remix-run/html-template'
import type { TrustedIssuer } from '../../storage/storage.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, type FormState } from '../layout/form.ts'
import { dangerRows } from '../layout/menus.ts'
import { page } from '../layout/page.ts'
import { lastUse, type LastUses } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { issuerFields } from './trusted-issuer-form.ts'

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
