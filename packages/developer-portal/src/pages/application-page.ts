import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '@tokenwell/token-service/plugin'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { statusBadge } from '../components/client-summary.ts'
import { copyable } from '../components/copyable.ts'
import { csrfInput } from '../components/form.ts'
import { page } from '../components/page.ts'
import { time } from '../components/time.ts'
import { usageChart } from '../components/usage-chart.ts'
import type { DayOfUse } from '../components/usage-by-day.ts'
import { secretsSection } from './secrets-section.ts'

export interface ApplicationContent {
  readonly client: RegisteredClient
  readonly days: readonly DayOfUse[]
  readonly nowMs: number
  readonly submissionId: string
}

const responseForms = {
  products: 'with API products',
  refresh: 'with level and refresh token',
  rfc6749: 'as in RFC 6749',
}

export function applicationPage(request: DeveloperRequest, content: ApplicationContent): SafeHtml {
  const { paths } = request
  const { application, project } = content.client
  const body = html` <p>
      ${statusBadge(application.status)}
      ${application.requested ? html`<span class="badge pending">changes pending approval</span>` : ''}
    </p>
    ${settings(request, content)} ${secretsSection(request, content)}
    <section class="card" aria-labelledby="usage">
      <h2 id="usage">Tokens issued</h2>
      ${usageChart(content.days)}
    </section>
    ${approval(request, content)}`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  return page(request, { title: application.name, body, trail })
}

function settings(
  { paths }: DeveloperRequest,
  { client: { application, project } }: ApplicationContent,
): SafeHtml {
  const { clientId, products, level, responseForm, lifetimeSeconds, createdAtMs, id } = application
  return html`<section class="card" aria-labelledby="about">
    <h2 id="about">Settings</h2>
    <dl class="pairs">
      <div class="whole">
        <dt>Client ID</dt>
        <dd>${copyable({ id: 'client-id', value: clientId, what: 'client ID' })}</dd>
      </div>
      <div>
        <dt>API products</dt>
        <dd>${products.length === 0 ? 'none' : products.join(', ')}</dd>
      </div>
      <div>
        <dt>Level</dt>
        <dd>${level === '' ? 'none' : level}</dd>
      </div>
      <div>
        <dt>Token response</dt>
        <dd>${responseForms[responseForm]}</dd>
      </div>
      <div>
        <dt>Token lifetime</dt>
        <dd>${lifetimeSeconds.toLocaleString('en')} seconds</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>${time(createdAtMs)}</dd>
      </div>
    </dl>
    <p><a href="${paths.settings(project.id, id)}">Change settings</a></p>
  </section>`
}

function approval(
  { paths, csrfToken, developer }: DeveloperRequest,
  { client: { application, project } }: ApplicationContent,
): SafeHtml {
  const { status, requested, revision } = application
  const decide = (decision: string, button: SafeHtml) =>
    html`<form method="post" action="${paths.approval(project.id, application.id)}">
      ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="${decision}" />
      <input type="hidden" name="revision" value="${revision}" />${button}
    </form>`
  const approve = developer.administrator
    ? html`<p>The application cannot get tokens.</p>
        ${decide('approve', html`<button>Approve application</button>`)}`
    : html`<p>The application cannot get tokens until an administrator approves it.</p>`
  const requestedChanges =
    requested &&
    html`<p>
        Requested: ${requested.products.join(', ') || 'no products'}; token lifetime
        ${requested.lifetimeSeconds.toLocaleString('en')} seconds. The settings above stay in force until an
        administrator approves these.
      </p>
      ${
        developer.administrator
          ? [
              decide('approve', html`<button>Approve changes</button>`),
              decide('decline', html`<button class="quiet">Decline changes</button>`),
            ]
          : ''
      }`
  const revokeTokens = html`<details>
    <summary>Revoke all tokens</summary>
    <p>The application's existing tokens become invalid. It can get new ones.</p>
    ${decide('revoke_tokens', html`<button class="danger">Revoke all tokens</button>`)}
  </details>`
  const revoke = html`<details>
    <summary>Revoke application</summary>
    <p>
      It gets no more tokens, and its existing tokens become invalid.
      ${developer.administrator ? 'You can approve it again.' : 'Only an administrator can approve it again.'}
    </p>
    ${decide('revoke', html`<button class="danger">Revoke application</button>`)}
  </details>`
  return html`<section class="card" aria-labelledby="approval">
    <h2 id="approval">Approval</h2>
    ${status === 'approved' ? (requestedChanges ?? '') : approve} ${status === 'approved' ? revokeTokens : ''}
    ${status === 'revoked' ? '' : revoke}
  </section>`
}
