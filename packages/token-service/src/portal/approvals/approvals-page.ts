import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../applications/application.ts'
import { page } from '../layout/page.ts'
import { duration, relativeTime } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { decisions } from './approval-decisions.ts'

export interface ApprovalsContent {
  readonly clients: readonly RegisteredClient[]
  /** The names of the owners by project. */
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly nowMs: number
}

/** What an administrator has to decide on. */
export function approvalsPage(
  request: DeveloperRequest,
  { clients, owners, nowMs }: ApprovalsContent,
): SafeHtml {
  const body =
    clients.length === 0
      ? html`<div class="card empty">
          <h2>No pending approvals</h2>
          <p class="muted">New applications, and changes that require a new approval, appear here.</p>
        </div>`
      : html`${clients.map((client) => {
          const { application, project } = client
          const { id, name, createdAtMs, products, lifetimeSeconds, requested } = application
          return html`<section class="card" aria-labelledby="application-${id}">
            <div class="bar">
              <h2 id="application-${id}">
                <a href="${request.paths.application(project.id, id)}">${name}</a>
              </h2>
              <div class="actions">${decisions(request, client, 'approvals')}</div>
            </div>
            <dl class="pairs">
              <div>
                <dt>Project</dt>
                <dd>${project.name}</dd>
              </div>
              <div>
                <dt>Owners</dt>
                <dd>${owners.get(project.id)?.join(', ') ?? 'none'}</dd>
              </div>
              <div>
                <dt>API products</dt>
                <dd>${change(listed(products), requested && listed(requested.products))}</dd>
              </div>
              <div>
                <dt>Token lifetime</dt>
                <dd>
                  ${change(duration(lifetimeSeconds), requested && duration(requested.lifetimeSeconds))}
                </dd>
              </div>
              <div>
                <dt>Created</dt>
                <dd>${relativeTime(createdAtMs, nowMs)}</dd>
              </div>
            </dl>
          </section>`
        })}`
  return page(request, { title: 'Approvals', body })
}

const listed = (products: readonly string[]) => products.join(', ') || 'none'

/** The approved value, and the requested one if it differs. */
function change(approved: string, requested = approved): SafeHtml {
  return requested === approved
    ? html`${approved}`
    : html`<s>${approved}</s><span class="visually-hidden"> becomes </span> <strong>${requested}</strong>`
}
