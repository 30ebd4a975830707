import { html, type SafeHtml } from '@remix-run/html-template'
import type { ListedStatus } from '../../storage/listing-storage.ts'
import { choice } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import { pages, searchField, type Paging } from '../layout/paging.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { applicationTable, type ApplicationTableContent } from './application-table.ts'

export interface ApplicationsContent extends ApplicationTableContent {
  readonly paging: Paging
  readonly total: number
  readonly status: ListedStatus | undefined
}

export const statusChoices = [
  ['', 'All statuses'],
  ['approved', 'Approved'],
  ['pending', 'Pending approval'],
  ['revoked', 'Revoked'],
  ['deleted', 'Deleted'],
] as const satisfies readonly (readonly [ListedStatus | '', string])[]

/** Every application that the developer may see. */
export function applicationsPage(request: DeveloperRequest, content: ApplicationsContent): PageContent {
  const { paths } = request
  const { paging, total, status = '', clients } = content
  const { search } = paging
  const isFiltered = search !== '' || status !== ''
  const state = { values: { status }, errors: {} }
  const body = html`<form method="get" action="${paths.applications}" class="filter" role="search">
      ${searchField(search, 'Search names and client IDs')}
      ${choice({ name: 'status', label: 'Status', choices: statusChoices }, state)}
      <button class="outline">Filter</button>
      ${isFiltered ? html`<a class="button ghost" href="${paths.applications}">Clear</a>` : ''}
    </form>
    ${clients.length > 0 ? applicationTable(request, content, { project: true }) : empty(request, isFiltered)}
    ${pages({ path: paths.applications, query: { q: search, status }, paging, total, noun: 'applications' })}`
  const actions = html`<a class="button" href="${paths.projects}">New application</a>`
  return { title: 'Applications', body, actions }
}

function empty({ paths }: DeveloperRequest, isFiltered: boolean): SafeHtml {
  return html`<div class="card empty">
    <h2>No applications</h2>
    ${
      isFiltered
        ? html`<p class="muted">Nothing matches the filter.</p>`
        : html`<p class="muted">Each program that calls APIs has its own client ID and secrets.</p>
            <p><a class="button" href="${paths.start}">Get your first token</a></p>`
    }
  </div>`
}
