import { html, type SafeHtml } from '@remix-run/html-template'
import type { ExpiringSecret, ListPage } from '../../storage/listing-storage.ts'
import { choice } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import { pages, type Paging } from '../layout/paging.ts'
import { relativeTimeOrNever } from '../layout/time.ts'
import { expiryBadge } from '../secrets/credentials-table.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export const expiryPeriods = [
  ['30', 'Within 30 days'],
  ['14', 'Within 14 days'],
  ['7', 'Within 7 days'],
  ['1', 'Within a day'],
] as const

export interface ExpiringSecretsContent {
  readonly secrets: ListPage<ExpiringSecret>
  readonly paging: Paging
  readonly days: string
  readonly nowMs: number
}

/** The secrets that expire next: of the developer's applications, or for administrators of all clients. */
export function expiringSecretsPage(
  request: DeveloperRequest,
  { secrets: { items, total }, paging, days, nowMs }: ExpiringSecretsContent,
): PageContent {
  const { paths } = request
  const state = { values: { days }, errors: {} }
  const body = html`<p class="lead">
      Rotate a secret, and deploy the new one, before the secret in use expires. A secret that was never used
      can expire without an effect.
    </p>
    <form method="get" action="${paths.expiringSecrets}" class="filter">
      ${choice({ name: 'days', label: 'Expiry', choices: expiryPeriods }, state)}
      <button class="outline">Filter</button>
    </form>
    ${
      items.length === 0
        ? html`<div class="card empty"><h2>No secret expires in this period</h2></div>`
        : html`<table class="stacked">
            <thead>
              <tr>
                <th scope="col">Client</th>
                <th scope="col">Secret</th>
                <th scope="col">Last used</th>
                <th scope="col">Expires</th>
              </tr>
            </thead>
            <tbody>
              ${items.map(
                (secret) =>
                  html`<tr>
                    <td data-label="Client">${ownerLink(request, secret)}</td>
                    <td data-label="Secret"><code>${secret.prefix}••••</code></td>
                    <td data-label="Last used">${relativeTimeOrNever(secret.lastUsedAtMs, nowMs)}</td>
                    <td data-label="Expires">${expiryBadge(secret.expiresAtMs, nowMs)}</td>
                  </tr>`,
              )}
            </tbody>
          </table>`
    }
    ${pages({ path: paths.expiringSecrets, query: { days }, paging, total, noun: 'secrets' })}`
  return {
    title: 'Secrets that expire soon',
    body,
    trail: [['Overview', paths.root]],
    section: paths.root,
  }
}

/** The name of a secret's owner, as a link to where one rotates the secret. */
export function ownerLink({ paths }: DeveloperRequest, { owner }: ExpiringSecret): SafeHtml {
  const { id, projectId, name, clientId } = owner
  const path = projectId === undefined ? paths.resourceServer(clientId) : paths.credentials(projectId, id)
  return html`<a href="${path}">${name || clientId}</a>`
}
