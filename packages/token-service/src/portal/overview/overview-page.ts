import { html, type SafeHtml } from '@remix-run/html-template'
import type { ExpiringSecret, FailureTotal } from '../../features/search/listings.ts'
import { describeOutcome, type Usage } from '../applications/usage.ts'
import { successRate, usageFigure, usageLegend } from '../applications/usage-chart.ts'
import type { AuditSentence } from '../audit/audit-sentence.ts'
import type { PageContent } from '../layout/page.ts'
import { formatCount, linkTo } from '../layout/paging.ts'
import { relativeTime } from '../layout/time.ts'
import { expiryBadge } from '../secrets/credentials-table.ts'
import { ownerLink } from './expiring-secrets-page.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface OverviewContent {
  /** Of all applications that the developer may see. */
  readonly usage: Usage
  readonly applications: number
  /** For administrators: to decide on. For developers: their own that wait. */
  readonly pending: number
  readonly expiring: readonly ExpiringSecret[]
  readonly failures: readonly FailureTotal[]
  /** For administrators. */
  readonly changes: readonly AuditSentence[]
  readonly nowMs: number
}

/** The first page: what happens, and what needs somebody. */
export function overviewPage(request: DeveloperRequest, content: OverviewContent): PageContent {
  const { paths, developer } = request
  const { usage, applications, pending, expiring, failures, changes, nowMs } = content
  const requests = usage.issued + usage.failed
  const rate = requests === 0 ? '–' : successRate(usage)
  const pendingPath = developer.administrator
    ? paths.approvals
    : linkTo(paths.applications, { show: 'pending' })
  const body = html`<dl class="figures">
      ${figure('Tokens in 30 days', formatCount(usage.issued))} ${figure('Success rate', rate)}
      ${figure('Applications', formatCount(applications), paths.applications)}
      ${figure(developer.administrator ? 'To approve' : 'Pending approval', formatCount(pending), pendingPath, pending > 0)}
    </dl>
    <section aria-labelledby="tokens">
      <h2 id="tokens">Token requests per day</h2>
      ${requests === 0 ? html`<p class="muted">No token requests in the last 30 days.</p>` : html`${usageLegend(usage)} ${usageFigure(usage, 'tokens')}`}
    </section>
    <div class="grid">
      ${part(
        'Secrets that expire soon',
        expiring.map((secret) => expiry(request, secret, nowMs)),
        'No secret expires in the next 30 days.',
        expiring.length > 0 ? html`<a href="${paths.expiringSecrets}">All</a>` : undefined,
      )}
      ${part(
        'Top failures, 24 hours',
        failures.map((failure) => failureRow(request, failure)),
        'No token request has failed.',
      )}
      ${
        developer.administrator
          ? part(
              'Recent changes',
              changes.map(
                ({ sentence, atMs }) =>
                  html`<p>${sentence}<br /><span class="hint">${relativeTime(atMs, nowMs)}</span></p>`,
              ),
              'No changes yet.',
              html`<a href="${paths.audit}">Audit log</a>`,
            )
          : ''
      }
    </div>`
  return { title: 'Overview', body }
}

function figure(name: string, value: string, path?: string, isDue = false): SafeHtml {
  return html`<div>
    <dt>${name}</dt>
    <dd>
      ${path === undefined ? value : html`<a class="quiet ${isDue ? 'due' : ''}" href="${path}">${value}</a>`}
    </dd>
  </div>`
}

function part(title: string, rows: readonly SafeHtml[], otherwise: string, link?: SafeHtml): SafeHtml {
  return html`<section>
    <div class="bar">
      <h2>${title}</h2>
      ${link === undefined ? '' : html`<div class="actions">${link}</div>`}
    </div>
    ${
      rows.length === 0
        ? html`<p class="muted">${otherwise}</p>`
        : html`<ul class="rows">
            ${rows.map((row) => html`<li class="bar">${row}</li>`)}
          </ul>`
    }
  </section>`
}

function expiry(request: DeveloperRequest, secret: ExpiringSecret, nowMs: number): SafeHtml {
  return html`<p>${ownerLink(request, secret)} <code>${secret.prefix}••••</code></p>
    <div class="actions">${expiryBadge(secret.expiresAtMs, nowMs)}</div>`
}

function failureRow({ paths }: DeveloperRequest, { application, outcome, requests }: FailureTotal): SafeHtml {
  return html`<p>
      <a href="${paths.requests(application.projectId, application.id)}">${application.name}</a><br /><span
        class="hint"
        >${describeOutcome(outcome).label}</span
      >
    </p>
    <div class="actions number">${formatCount(requests)}</div>`
}
