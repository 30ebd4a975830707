import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../storage/application.ts'
import {
  declineLink,
  statedFields,
  tokenFormatText,
  undoDeclineForm,
  requestedText,
  requesterNote,
} from './approval-buttons.ts'
import { csrfInput, emptyForm, textArea, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import { formatCount, pages, searchField, type Paging } from '../layout/paging.ts'
import { absent, duration, relativeTime } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface ApprovalsContent {
  readonly clients: readonly RegisteredClient[]
  /** The names of the owners by project. */
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly paging: Paging
  readonly total: number
  /** The application that was declined last. */
  readonly declined: RegisteredClient | undefined
  readonly nowMs: number
}

/** What an administrator has to decide on: one by one, or several at once. */
export function approvalsPage(request: DeveloperRequest, content: ApprovalsContent): PageContent {
  const { paths, csrfToken } = request
  const { clients, paging, total } = content
  const { search } = paging
  const isEmpty = total === 0 && search === ''
  const list = isEmpty
    ? html`<div class="card empty">
        <h2>No pending approvals</h2>
        <p class="muted">New applications, and changes that require a new approval, appear here.</p>
      </div>`
    : html`<p class="lead">${waiting(total)}</p>
        <form method="get" action="${paths.approvals}" class="filter" role="search">
          ${searchField(search, 'Search applications and projects')}
          <button class="outline">Search</button>
          ${search === '' ? '' : html`<a class="button ghost" href="${paths.approvals}">Clear</a>`}
        </form>
        <form id="decisions" method="post" action="${paths.approvals}">${csrfInput(csrfToken)}</form>
        ${clients.length === 0 ? html`<p class="muted">Nothing matches the search.</p>` : table(request, content)}
        ${clients.length > 1 ? html`<p class="selection"><button form="decisions">Approve selected</button></p>` : ''}
        ${pages({ path: paths.approvals, query: { q: search }, paging, total, noun: 'to decide on' })}`
  const body = html`${declinedNotice(request, content.declined)}${list}`
  return { title: 'Approvals', body }
}

function waiting(total: number): string {
  return total === 1
    ? '1 waiting.'
    : `${formatCount(total)} waiting, oldest first. Tick several to approve them at once.`
}

/** Confirms the decision, which can be undone. */
function declinedNotice(request: DeveloperRequest, client: RegisteredClient | undefined): SafeHtml | '' {
  const undo = client && undoDeclineForm(request, client, 'approvals')
  if (!undo) return ''
  const { application, project } = client
  return html`<div role="status" class="notice bar" data-variant="success">
    <p>
      The request of
      <a href="${request.paths.application(project.id, application.id)}">${application.name}</a>
      was declined.
    </p>
    ${undo}
  </div>`
}

function table(request: DeveloperRequest, { clients, owners, nowMs }: ApprovalsContent): SafeHtml {
  return html`<table class="stacked">
    <thead>
      <tr>
        <th scope="col">Application</th>
        <th scope="col">Project</th>
        <th scope="col">API products</th>
        <th scope="col">Scopes</th>
        <th scope="col">Token lifetime</th>
        <th scope="col">Created</th>
        <th scope="col"><span class="visually-hidden">Decision</span></th>
      </tr>
    </thead>
    <tbody>
      ${clients.map((client) => {
        const { application, project } = client
        const { id, name, clientId, revision, createdAtMs, products, scopes, lifetimeSeconds } = application
        const { requested, review } = application
        const value = `${revision} ${clientId}`
        const names = owners.get(project.id)?.join(', ') ?? absent('no owner')
        return html`<tr>
          <td data-label="Application">
            <span class="choice"
              >${
                clients.length > 1
                  ? html`<input
                      type="checkbox"
                      name="selected"
                      value="${value}"
                      form="decisions"
                      aria-label="Select ${name}"
                    /> `
                  : ''
              }<a href="${request.paths.application(project.id, id)}">${name}</a></span
            >
            ${review?.note === undefined ? '' : html`<br /><q class="hint lines">${review.note}</q>`}
            ${statedFields
              .filter(([field]) => requested && requested[field] !== application[field])
              .map(
                ([field, label]) =>
                  html`<br /><span class="hint"
                      >${label} ${change(application[field], requested?.[field])}</span
                    >`,
              )}
            ${
              application.tokenFormat === 'jwt' || requested?.tokenFormat === 'jwt'
                ? html`<br /><span class="hint"
                      >${change(tokenFormatText(application), requested && tokenFormatText(requested))}</span
                    >`
                : ''
            }
          </td>
          <td data-label="Project">${project.name}<br /><span class="hint">${names}</span></td>
          <td data-label="API products">
            ${change(listed(products), requested && listed(requested.products))}
          </td>
          <td data-label="Scopes">${change(listed(scopes), requested && listed(requested.scopes))}</td>
          <td data-label="Token lifetime">
            ${change(duration(lifetimeSeconds), requested && duration(requested.lifetimeSeconds))}
          </td>
          <td data-label="Created">${relativeTime(createdAtMs, nowMs)}</td>
          <td class="action">
            <div class="actions">
              <button class="small outline" form="decisions" name="approve" value="${value}">
                Approve<span class="visually-hidden"> ${name}</span>
              </button>
              ${declineLink(request, client, 'approvals')}
            </div>
          </td>
        </tr>`
      })}
    </tbody>
  </table>`
}

const listed = (names: readonly string[]) => names.join(', ')

/** The approved value, and the requested one if it differs. */
function change(approved: string, requested = approved): SafeHtml {
  return requested === approved
    ? html`${approved || absent()}`
    : html`<s>${approved || 'none'}</s><span class="visually-hidden"> becomes </span>
        <strong>${requested || 'none'}</strong>`
}

export interface DeclineContent {
  readonly client: RegisteredClient
  /** `approvals`: the administrator continues at the queue, otherwise at the application. */
  readonly from: string
  readonly state?: FormState
}

/** Asks why a request is declined. */
export function declinePage(
  request: DeveloperRequest,
  { client: { application, project }, from, state = emptyForm }: DeclineContent,
): PageContent {
  const { paths, csrfToken } = request
  const { id, name, revision, requested, review } = application
  const cancel = from === 'approvals' ? paths.approvals : paths.application(project.id, id)
  const reason = {
    name: 'reason',
    label: 'Reason',
    hint: 'The owners of the application see it.',
    required: false,
    rows: 3,
  }
  const body = html`<form method="post" action="${paths.approval(project.id, id)}" class="card form">
    ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="decline" />
    <input type="hidden" name="revision" value="${revision}" />
    <input type="hidden" name="from" value="${from}" />
    ${requested ? html`<p><strong>Requested:</strong> ${requestedText(requested, application)}.</p>` : ''}
    ${requesterNote(review)} ${textArea(reason, state)}
    <p class="bar"><button>Decline</button> <a class="button outline" href="${cancel}">Cancel</a></p>
  </form>`
  const trail = [
    ['Approvals', paths.approvals],
    [name, paths.application(project.id, id)],
  ] as const
  return { title: requested ? 'Decline the changes' : 'Decline the application', body, trail }
}
