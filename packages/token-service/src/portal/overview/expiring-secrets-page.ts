import { html, type SafeHtml } from '@remix-run/html-template'
import type { ExpiringSecret, ListPage } from '../../features/search/listings.ts'
import { list, named, type Column, type Facet, type ListState } from '../layout/list.ts'
import type { PageContent } from '../layout/page.ts'
import { relativeTimeOrNever } from '../layout/time.ts'
import { expiryBadge } from '../secrets/credentials-table.ts'
import type { DeveloperRequest } from '../portal-request.ts'

/** The days within which a secret expires, as the URL says. */
export const expiryPeriods = { '14': 'Within 14 days', '7': 'Within 7 days', '1': 'Within a day' } as const
export const longestExpiryDays = 30

export interface ExpiringSecretsContent extends ListPage<ExpiringSecret> {
  readonly state: ListState
  /** How many expire within each period; empty: the longest. */
  readonly counts: ReadonlyMap<string, number>
  readonly nowMs: number
}

/** The secrets that expire next: of the developer's applications, or for administrators of all clients. */
export function expiringSecretsPage(
  request: DeveloperRequest,
  { items, total, state, counts, nowMs }: ExpiringSecretsContent,
): PageContent {
  const { paths } = request
  const facet = (id: string, label: string): Facet => ({ id, label, count: counts.get(id) ?? 0 })
  const columns: readonly Column<ExpiringSecret>[] = [
    {
      label: 'Client',
      kind: 'name',
      cell: ({ owner, prefix }) =>
        named({
          name: owner.name || owner.clientId,
          href: ownerPath(request, owner),
          below: html`<code>${prefix}••••</code>`,
        }),
    },
    {
      label: 'Last used',
      kind: 'time',
      leaves: 1,
      cell: ({ lastUsedAtMs }) => relativeTimeOrNever(lastUsedAtMs, nowMs),
    },
    { label: 'Expires', kind: 'time', cell: ({ expiresAtMs }) => expiryBadge(expiresAtMs, nowMs) },
  ]
  const body = html`<p class="lead">
      Rotate a secret, and deploy the new one, before the secret in use expires. A secret that was never used
      can expire without an effect.
    </p>
    ${list(columns, items, {
      label: 'Secrets that expire soon',
      browsing: {
        path: paths.expiringSecrets,
        state,
        total,
        noun: 'secrets',
        facets: [
          facet('', `Within ${longestExpiryDays} days`),
          ...Object.entries(expiryPeriods)
            .toSorted(([a], [b]) => Number(b) - Number(a))
            .map(([id, label]) => facet(id, label)),
        ],
      },
      empty: html`<div class="empty"><h2>No secret expires in the next ${longestExpiryDays} days</h2></div>`,
    })}`
  return {
    title: 'Secrets that expire soon',
    body,
    trail: [['Overview', paths.root]],
    section: paths.root,
  }
}

/** Where one rotates the secret. */
function ownerPath(
  { paths }: DeveloperRequest,
  { id, projectId, clientId }: ExpiringSecret['owner'],
): string {
  return projectId === undefined ? paths.resourceServer(clientId) : paths.credentials(projectId, id)
}

/** The name of a secret's owner, as a link to where one rotates the secret. */
export function ownerLink(request: DeveloperRequest, { owner }: ExpiringSecret): SafeHtml {
  return html`<a href="${ownerPath(request, owner)}">${owner.name || owner.clientId}</a>`
}
