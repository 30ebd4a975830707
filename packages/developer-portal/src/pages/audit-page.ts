import { html, type SafeHtml } from '@remix-run/html-template'
import type { AuditEntry } from '@tokenwell/token-service/plugin'
import { page } from '../components/page.ts'
import { time } from '../components/time.ts'
import type { DeveloperRequest } from '../request/portal-request.ts'

export function auditPage(request: DeveloperRequest, entries: readonly AuditEntry[]): SafeHtml {
  const body = html`<p class="lead">The latest ${entries.length} entries, the newest first.</p>
    <ul class="rows card">
      ${entries.map(
        ({ atMs, event, actor, address, clientId, detail, count }) =>
          html`<li class="row">
            <p class="row-title"><code>${event}</code> ${count > 1 ? `${count} times` : ''}</p>
            <dl class="pairs">
              <div>
                <dt>When</dt>
                <dd>${time(atMs)}</dd>
              </div>
              ${Object.entries({ Who: actor, From: address, 'Client ID': clientId, Detail: detail }).map(
                ([label, value]) =>
                  value === undefined
                    ? ''
                    : html`<div>
                        <dt>${label}</dt>
                        <dd>${value}</dd>
                      </div>`,
              )}
            </dl>
          </li>`,
      )}
    </ul>`
  return page(request, { title: 'Audit log', body })
}
