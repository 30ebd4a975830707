import { html, type SafeHtml } from '@remix-run/html-template'
import type { AuditEntry } from '../../storage/storage.ts'
import { field } from '../layout/form.ts'
import { page } from '../layout/page.ts'
import { time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface AuditContent {
  readonly entries: readonly AuditEntry[]
  /** What the entries are about and still exists, by project ID or client ID. */
  readonly subjects: ReadonlyMap<string, AuditSubject>
  /** The fields of the filter, as they were sent. */
  readonly filter: Readonly<Record<string, string>>
  readonly limit: number
}

export interface AuditSubject {
  readonly name: string
  readonly path: string
}

export function auditPage(request: DeveloperRequest, content: AuditContent): SafeHtml {
  const { entries, subjects, filter, limit } = content
  const { paths } = request
  const state = { values: filter, errors: {} }
  const text = (name: string, label: string) => field({ name, label, required: false }, state)
  const query = new URLSearchParams(filter).toString()
  const subject = (id: string, otherwise: SafeHtml | string) => {
    const found = subjects.get(id)
    return found ? html`<a href="${found.path}">${found.name}</a><br /><code>${id}</code>` : otherwise
  }
  const body = html`<form method="get" action="${paths.audit}" class="card filter">
      ${text('event', 'Event')} ${text('actor', 'Who')} ${text('client_id', 'Client ID')}
      ${text('address', 'Address')}
      ${field({ name: 'since', label: 'From date', type: 'date', required: false }, state)}
      ${field({ name: 'until', label: 'To date', type: 'date', required: false }, state)}
      <p class="bar"><button>Filter</button> <a href="${paths.audit}">Clear</a></p>
    </form>
    ${
      entries.length === 0
        ? html`<div class="card empty">
            <h2>No entries</h2>
            <p class="muted">Nothing matches the filter.</p>
          </div>`
        : html`<div class="card">
            <table class="stacked compact">
              <caption>
                ${entries.length < limit ? `${entries.length} ${entries.length === 1 ? 'entry' : 'entries'}` : `The latest ${limit} entries`},
                newest first
              </caption>
              <thead>
                <tr>
                  <th scope="col">Time</th>
                  <th scope="col">Event</th>
                  <th scope="col">Who</th>
                  <th scope="col">Address</th>
                  <th scope="col">Client</th>
                  <th scope="col">Detail</th>
                </tr>
              </thead>
              <tbody>
                ${entries.map(
                  ({ atMs, event, actor, address, clientId, detail, count }) =>
                    html`<tr>
                      <td data-label="Time">${time(atMs)}</td>
                      <td data-label="Event"><code>${event}</code> ${count > 1 ? `× ${count}` : ''}</td>
                      <td data-label="Who">${actor}</td>
                      <td data-label="Address">${address}</td>
                      <td data-label="Client">
                        ${clientId && subject(clientId, html`<code>${clientId}</code>`)}
                      </td>
                      <td data-label="Detail">${detail && subject(detail, detail)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }`
  const actions = html`<a class="button outline" href="${paths.auditExport}?${query}" download="audit.jsonl"
    >Export as JSON lines</a
  >`
  return page(request, { title: 'Audit log', body, actions })
}
