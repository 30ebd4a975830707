import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../applications/application.ts'
import type { DeveloperExchange } from '../exchange.ts'
import { statusBadge } from '../page/client-summary.ts'
import { copyable } from '../page/copyable.ts'
import { formToken } from '../page/form.ts'
import { page } from '../page/page.ts'
import { time } from '../page/time.ts'
import { usageChart } from '../page/usage-chart.ts'
import type { DayOfUse } from '../usage-by-day.ts'
import { secretsSection } from './secrets-section.ts'

export interface ApplicationContent {
  readonly client: RegisteredClient
  readonly days: readonly DayOfUse[]
  readonly nowMs: number
  readonly once: string
}

export function applicationPage(exchange: DeveloperExchange, content: ApplicationContent): SafeHtml {
  const { paths } = exchange
  const { application, project } = content.client
  const body = html` <p>${statusBadge(application.status)}</p>
    ${settings(exchange, content)} ${secretsSection(exchange, content)}
    <section class="card" aria-labelledby="usage">
      <h2 id="usage">Tokens issued</h2>
      ${usageChart(content.days)}
    </section>
    ${approval(exchange, content)}`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  return page(exchange, { title: application.name, body, trail })
}

function settings(
  { paths }: DeveloperExchange,
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
        <dd>${responseForm === 'products' ? 'with API products' : 'with level and refresh token'}</dd>
      </div>
      <div>
        <dt>Tokens live for</dt>
        <dd>${lifetimeSeconds.toLocaleString('en')} seconds</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>${time(createdAtMs)}</dd>
      </div>
    </dl>
    <p><a href="${paths.settings(project.id, id)}">Change the settings</a></p>
  </section>`
}

function approval(
  { paths, visit, developer }: DeveloperExchange,
  { client: { application, project } }: ApplicationContent,
): SafeHtml {
  const send = (status: string, button: SafeHtml) =>
    html`<form method="post" action="${paths.status(project.id, application.id)}">
      ${formToken(visit)}<input type="hidden" name="status" value="${status}" />${button}
    </form>`
  const approve = developer.administrator
    ? html`<p>The application gets no tokens.</p>
        ${send('approved', html`<button>Approve the application</button>`)}`
    : html`<p>The application gets no tokens until the administrator approves it.</p>`
  const revoke = html`<details>
    <summary>Revoke the application</summary>
    <p>
      It gets no more tokens, and those it has are no longer good.
      ${
        developer.administrator ? 'You can approve it again.' : 'Only the administrator can approve it again.'
      }
    </p>
    ${send('revoked', html`<button class="danger">Revoke the application</button>`)}
  </details>`
  return html`<section class="card" aria-labelledby="approval">
    <h2 id="approval">Approval</h2>
    ${application.status === 'approved' ? '' : approve} ${application.status === 'revoked' ? '' : revoke}
  </section>`
}
