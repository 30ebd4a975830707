import { html } from '@remix-run/html-template'
import type { ListedStatus } from '../../features/search/listings.ts'
import { list, type Facet, type ListState } from '../layout/list.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { applicationColumns, type ApplicationTableContent } from './application-table.ts'

/** What the list can be narrowed down to. */
export const applicationFacets = {
  approved: 'Approved',
  pending: 'Pending',
  changes: 'Changes requested',
  revoked: 'Revoked',
  expiring: 'Secret expires soon',
  unused: 'Unused for 90 days',
  deleted: 'Deleted',
} as const satisfies Partial<Record<ListedStatus, string>>

/** In which it can be shown; only the first and the second have a column. */
export const applicationOrders = ['-used', 'used', 'name', '-name', '-created', 'created'] as const

/** What the applications of a list have, besides what it was narrowed down to. */
export interface Having {
  readonly product?: string
  readonly scope?: string
}

export interface ApplicationsContent extends ApplicationTableContent {
  readonly having: Having
  readonly state: ListState
  readonly total: number
  /** How many match the search, by facet. */
  readonly counts: Readonly<Record<ListedStatus | 'all', number>>
}

/** Every application that the developer may see. */
export function applicationsPage(request: DeveloperRequest, content: ApplicationsContent): PageContent {
  const { paths } = request
  const { having, state, total, counts, clients } = content
  const names = Object.entries(applicationFacets) as [keyof typeof applicationFacets, string][]
  const facets: Facet[] = [
    { id: '', label: 'All', count: counts.all },
    ...names
      .map(([id, label]) => ({ id, label, count: counts[id] }))
      .filter(({ id, count }) => count > 0 || id === state.facet),
  ]
  const listed = list(applicationColumns(request, content, { project: true }), clients, {
    label: 'Applications',
    browsing: {
      path: paths.applications,
      state,
      total,
      noun: 'applications',
      search: 'Name, project, owner, product or client ID',
      orders: [
        ['-used', 'Last used'],
        ['name', 'Name'],
        ['-created', 'Created'],
      ],
      facets,
      query: { ...having },
    },
    empty: html`<div class="empty">
      <h2>No applications</h2>
      <p class="muted">Each program that calls APIs has its own client ID and secrets.</p>
      <p><a class="button" href="${paths.start}">Get your first token</a></p>
    </div>`,
  })
  const [kind, name] = Object.entries(having)[0] ?? []
  const body = html`${
    kind === undefined
      ? ''
      : html`<p>
          Only applications with the ${kind} <strong>${name}</strong>.
          <a href="${paths.applications}">Show all applications</a>
        </p>`
  }${listed}`
  const actions = html`<a class="button" href="${paths.newApplication}">New application</a>`
  return { title: 'Applications', body, actions }
}
