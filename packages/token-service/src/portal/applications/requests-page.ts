import { html } from '@remix-run/html-template'
import type { PageContent } from '../layout/page.ts'
import type { RegisteredClient } from '../../storage/application.ts'
import type { TokenRequestEntry, TokenRequestOutcome } from '../../storage/activity-storage.ts'
import { list, state, type Column, type ListState } from '../layout/list.ts'
import { formatCount } from '../layout/paging.ts'
import { time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { applicationFrame } from './application-frame.ts'
import { describeOutcome, type Usage } from './usage.ts'

export interface RequestsContent {
  readonly client: RegisteredClient
  /** A part of the latest ones with that result, and how many there are. */
  readonly requests: readonly TokenRequestEntry[]
  readonly total: number
  readonly state: ListState
  /** Of the last 7 days, for the reasons of failures. */
  readonly usage: Usage
  readonly outcome: TokenRequestOutcome | undefined
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
  const facets = choices.map(([each, label, count]) => ({ id: each ?? '', label, count }))
  const body = html`${
    outcome === undefined || outcome === 'issued'
      ? ''
      : html`<p class="notice">${describeOutcome(outcome).help}</p>`
  }
  ${list(columns, content.requests, {
    label: 'Latest token requests',
    browsing: { path, state: content.state, total: content.total, noun: 'entries', facets },
    empty: html`<p class="muted">No token request in the last 7 days.</p>`,
  })}`
  return applicationFrame(request, client, 'requests', body)
}

const columns: readonly Column<TokenRequestEntry>[] = [
  {
    label: 'Result',
    kind: 'name',
    cell: ({ outcome }) => state(outcome === 'issued' ? 'success' : 'danger', describeOutcome(outcome).label),
  },
  {
    label: 'Address',
    kind: 'text',
    leaves: 1,
    cell: ({ address }) => html`<code class="cut">${address}</code>`,
  },
  { label: 'Requests', kind: 'number', leaves: 2, cell: ({ count }) => formatCount(count) },
  { label: 'Time', kind: 'date', cell: ({ atMs }) => time(atMs) },
]
