import { html, type SafeHtml } from '@remix-run/html-template'
import type { Application, Project, RegisteredClient } from '../../storage/application.ts'
import type { ListedStatus } from '../../features/search/listings.ts'
import {
  declineLink,
  undoDeclineForm,
  requestedText,
  requesterNote,
  additionsOf,
} from './approval-buttons.ts'
import { csrfInput, emptyForm, textArea, type FormState } from '../layout/form.ts'
import { list, named, names, type Column, type ListState } from '../layout/list.ts'
import type { PageContent } from '../layout/page.ts'
import { linkTo } from '../layout/paging.ts'
import { absent, relativeTime } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

/** What can be requested. */
export const approvalFacets = { pending: 'New applications', changes: 'Changes' } as const

export interface ApprovalsContent {
  readonly clients: readonly RegisteredClient[]
  /** The names of the owners by project. */
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly state: ListState
  readonly total: number
  readonly counts: Readonly<Record<ListedStatus, number>>
  /** The project that the list is narrowed down to. */
  readonly project: Project | undefined
  /** The application that was declined last. */
  readonly declined: RegisteredClient | undefined
  readonly nowMs: number
}

/** What an administrator has to decide on: one by one, or several at once. */
export function approvalsPage(request: DeveloperRequest, content: ApprovalsContent): PageContent {
  const { paths, csrfToken, url } = request
  const { clients, state, total, counts, project } = content
  const facets = Object.entries(approvalFacets) as [keyof typeof approvalFacets, string][]
  const body = html`${declinedNotice(request, content.declined)}
    ${project === undefined ? '' : html`<p class="bar">Only of <a href="${paths.project(project.id)}">${project.name}</a> <a class="button small outline" href="${paths.approvals}">Show all projects</a></p>`}
    <form id="decisions" method="post" action="${url}">${csrfInput(csrfToken)}</form>
    ${list(columns(request, content), clients, {
      label: 'Applications to decide on',
      browsing: {
        path: paths.approvals,
        state,
        total,
        noun: 'to decide on',
        search: 'Name, project, owner, product or client ID',
        facets: [
          { id: '', label: 'All', count: counts.awaiting },
          ...facets.map(([id, label]) => ({ id, label, count: counts[id] })),
        ],
        query: { project: project?.id ?? '' },
      },
      empty: html`<div class="empty">
        <h2>No pending approvals</h2>
        <p class="muted">New applications, and changes that require a new approval, appear here.</p>
      </div>`,
    })}
    ${clients.length === 0 ? '' : selection()}`
  return { title: 'Approvals', body }
}

/** What is decided on the selected ones: as they were shown, whatever has changed since. */
function selection(): SafeHtml {
  const reason = { name: 'reason', label: 'Reason', hint: 'The owners see it.', required: false, rows: 3 }
  return html`<div class="selection actions">
    <button form="decisions" data-selected="Approve">Approve selected</button>
    <button
      type="button"
      class="outline"
      commandfor="decline-selected"
      command="show-modal"
      aria-haspopup="dialog"
      data-selected="Decline"
    >
      Decline selected
    </button>
    <dialog id="decline-selected" closedby="any" aria-labelledby="decline-selected-title">
      <form method="dialog">
        <header><h2 id="decline-selected-title">Decline the selected requests?</h2></header>
        <div>${textArea({ ...reason, form: 'decisions' }, emptyForm)}</div>
        <footer>
          <button type="button" class="outline" commandfor="decline-selected" command="close">Cancel</button>
          <button form="decisions" name="decision" value="decline">Decline</button>
        </footer>
      </form>
    </dialog>
  </div>`
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

function columns(
  request: DeveloperRequest,
  { owners, nowMs, project: only }: ApprovalsContent,
): readonly Column<RegisteredClient>[] {
  const { paths } = request
  const shown = ({ revision, clientId }: Application) => `${revision} ${clientId}`
  return [
    {
      label: html`<input type="checkbox" data-select-all aria-label="Select all that are shown" />`,
      kind: 'select',
      cell: ({ application }) =>
        html`<input
          type="checkbox"
          name="selected"
          value="${shown(application)}"
          form="decisions"
          aria-label="Select ${application.name}"
        />`,
    },
    {
      label: 'Application',
      kind: 'name',
      cell: ({ application, project }) =>
        named({
          name: application.name,
          href: linkTo(paths.application(project.id, application.id), { from: 'approvals' }),
          below: html`<span class="narrow">${additionsOf(application).join(', ')} · </span>${project.name} ·
            ${ownersOf(owners.get(project.id))}`,
          belowHref: only === undefined ? linkTo(paths.approvals, { project: project.id }) : undefined,
        }),
    },
    {
      label: 'Adds',
      kind: 'text',
      leaves: 1,
      cell: ({ application }) => {
        const { note } = application.review ?? {}
        return html`${names(additionsOf(application), 3)}${note === undefined ? '' : html`<q class="cut below" title="${note}">${note}</q>`}`
      },
    },
    {
      label: 'Requested',
      kind: 'time',
      leaves: 3,
      cell: ({ application: { createdAtMs, review } }) =>
        relativeTime(review?.requestedAtMs ?? createdAtMs, nowMs),
    },
    {
      label: 'Decision',
      kind: 'decision',
      cell: (client) => {
        const { application } = client
        return html`<button
            class="small outline"
            form="decisions"
            name="approve"
            value="${shown(application)}"
          >
            Approve<span class="visually-hidden"> ${application.name}</span>
          </button>
          ${declineLink(request, client, 'approvals')}`
      },
    },
  ]
}

function ownersOf(all: readonly string[] = []): string | SafeHtml {
  return all.length === 0 ? absent('no owner') : all.join(', ')
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
