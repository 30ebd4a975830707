import { html, type SafeHtml } from '@remix-run/html-template'
import type { PageContent } from '../layout/page.ts'
import type { RegisteredClient } from '../../storage/application.ts'
import type { TokenRequestEntry, TokenRequestOutcome } from '../../storage/activity-storage.ts'
import { formatCount, linkTo } from '../layout/paging.ts'
import { time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { applicationFrame } from './application-frame.ts'
import { describeOutcome, type Usage } from './usage.ts'

export interface RequestsContent {
  readonly client: RegisteredClient
  /** The latest ones with that result. */
  readonly requests: readonly TokenRequestEntry[]
  /** Of the last 7 days, for the reasons of failures. */
  readonly usage: Usage
  readonly outcome: TokenRequestOutcome | undefined
  readonly nowMs: number
}

/** The latest token requests of an application, and why some have failed. */
export function requestsPage(request: DeveloperRequest, content: RequestsContent): PageContent {
  const { client, usage, outcome } = content
  const { application, project } = client
  const path = request.paths.requests(project.id, application.id)
  const choices = [
    [undefined, 'All', usage.issued + usage.failed],
    ['issued', describeOutcome('issued').label, usage.issued],
    ...usage.failures.map(
      ([failure, requests]) => [failure, describeOutcome(failure).label, requests] as const,
    ),
  ] as const
  const body = html`<nav class="actions reasons" aria-label="Result">
      ${choices.map(
        ([each, label, requests]) =>
          html`<a
            class="button small ${each === outcome ? 'chosen' : 'ghost'}"
            href="${linkTo(path, { result: each ?? '' })}"
            ${each === outcome ? html`aria-current="true"` : ''}
            >${label} <span class="number muted">${formatCount(requests)}</span></a
          >`,
      )}
    </nav>
    ${outcome === undefined || outcome === 'issued' ? '' : html`<p class="notice">${describeOutcome(outcome).help}</p>`}
    ${table(content)}`
  return applicationFrame(request, client, 'requests', body)
}

function table({ requests }: RequestsContent): SafeHtml {
  if (requests.length === 0) return html`<p class="muted">No such token request in the last 7 days.</p>`
  return html`<table class="stacked">
    <thead>
      <tr>
        <th scope="col">Time</th>
        <th scope="col">Result</th>
        <th scope="col">Address</th>
        <th scope="col" class="number">Requests</th>
      </tr>
    </thead>
    <tbody>
      ${requests.map(
        ({ atMs, outcome, address, count }) =>
          html`<tr>
            <td data-label="Time">${time(atMs)}</td>
            <td data-label="Result">
              <span class="badge" data-variant="${outcome === 'issued' ? 'success' : 'danger'}"
                >${describeOutcome(outcome).label}</span
              >
            </td>
            <td data-label="Address"><code>${address}</code></td>
            <td class="number" data-label="Requests">${formatCount(count)}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
}
