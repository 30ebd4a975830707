import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { ApplicationChanged } from './acts.ts'
import { approve, decline, revokeApproval, revokeTokens, undoDecline } from './approval-acts.ts'
import { maxNoteLength } from './settings.ts'
import { BeingDeleted } from '../credentials/acts.ts'
import type { ListedStatus } from '../search/listings.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import {
  additionsOf,
  declineLink,
  requestedText,
  requesterNote,
  undoDeclineForm,
} from './approval-buttons.ts'
import { type FormState, csrfInput, emptyForm, textArea } from '../../portal/layout/form.ts'
import { type Column, type ListState, list, listState, named, names } from '../../portal/layout/list.ts'
import type { NoticeName } from '../../portal/layout/notices.ts'
import type { Confirmation, PageContent } from '../../portal/layout/page.ts'
import { formatCount, linkTo } from '../../portal/layout/paging.ts'
import { parseForm } from '../../portal/layout/parse-form.ts'
import { optionalText } from '../../runtime/bounds.ts'
import { absent, relativeTime } from '../../portal/layout/time.ts'
import { administratorPages, developerPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { findOwnProject, ownClient } from '../projects/own-projects.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { actorOf } from '../sessions/session.ts'
import type { Application, Project, RegisteredClient } from '../../storage/application.ts'

const revision = z
  .string()
  .regex(/^\d{1,9}$/)
  .transform(Number)
const reasonForm = z.object({ reason: optionalText(maxNoteLength) })
const decisionForm = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('approve'), revision }),
  z.object({ decision: z.literal('decline'), revision }),
  z.object({ decision: z.enum(['undo_decline', 'revoke', 'revoke_tokens']) }),
])

interface Choice {
  /** As the administrator has seen it. */
  readonly revision: number
  readonly clientId: string
}

/** The button of one application, or all that are selected. */
function choicesOf({ approve, selected = [] }: RawParameters): Choice[] {
  const texts = approve === undefined ? [selected].flat() : [approve]
  if (texts.length === 0) throw new PortalError('nothing_selected')
  return texts.map((text) => {
    const [, seen, clientId = ''] = /^(\d{1,9}) (.+)$/.exec(String(text)) ?? []
    if (seen === undefined) throw new PortalError('invalid_form')
    return { revision: Number(seen), clientId }
  })
}

/** The queue of pending decisions of an administrator. */
export async function approvalPages(
  portal: FastifyInstance,
  { storage, perform, clock }: PortalService,
): Promise<void> {
  const { get, post } = administratorPages(portal)
  // Owners may revoke.
  const { post: postByOwner } = developerPages(portal)
  async function decide(
    application: Application,
    request: DeveloperRequest,
    reason: string,
  ): Promise<NoticeName> {
    const { developer, form } = request
    const by = actorOf(request)
    // Owners may revoke an approval; only administrators approve.
    const isOwners = form['decision'] === 'revoke' || form['decision'] === 'revoke_tokens'
    if (!isOwners && !developer.administrator) throw new PortalError('not_allowed')
    const { data } = decisionForm.safeParse(form)
    if (!data) throw new PortalError('invalid_form')
    switch (data.decision) {
      case 'approve':
        await perform(by, (act) => approve(act, application, data.revision))
        return application.status === 'approved' ? 'changes_approved' : 'application_approved'
      case 'decline':
        await perform(by, (act) =>
          decline(act, application, { revision: data.revision, reason: reason || undefined }),
        )
        return 'request_declined'
      case 'undo_decline':
        await perform(by, (act) => undoDecline(act, application))
        return 'decline_undone'
      case 'revoke':
        await perform(by, (act) => revokeApproval(act, application))
        return 'application_revoked'
      case 'revoke_tokens':
        await perform(by, (act) => revokeTokens(act, application))
        return 'tokens_revoked'
    }
  }

  /** What the administrator has just decided, as far as the URL says when; the audit log knows what it was. */
  async function findDecisions({ query, developer }: DeveloperRequest): Promise<Decisions | undefined> {
    const [, event, since, until, changed] =
      /^(application_approved|request_declined) (\d{1,16}) (\d{1,16}) (\d{1,3})$/.exec(
        String(query['decided'] ?? ''),
      ) ?? []
    if (event === undefined) return undefined
    const filter = { event, actor: developer.name, sinceMs: Number(since), untilMs: Number(until) + 1 }
    const entries = await storage.audit.list(shownDecisions, filter)
    const found = await Promise.all(
      entries.map(({ clientId = '' }) => storage.applications.findClient(clientId)),
    )
    const clients = found.filter((client) => client !== undefined).toReversed()
    return { isApproval: event === 'application_approved', clients, changed: Number(changed) }
  }

  get(patterns.approvals, async (request) => {
    const facets = Object.keys(approvalFacets) as (keyof typeof approvalFacets)[]
    const state = listState(request.query, { orders: ['requested'], facets })
    const { search, order, facet, limit, offset } = state
    const { project: projectId } = request.query
    const project =
      typeof projectId === 'string' && projectId !== ''
        ? await findOwnProject(storage, request, projectId)
        : undefined
    const filter = { search, projectId: project?.id, nowMs: clock.now() }
    const status = facet || 'awaiting'
    const [found, counts] = await Promise.all([
      storage.listings.applications({ ...filter, status, order, limit, offset }),
      storage.listings.applicationCounts(filter),
    ])
    const { items: clients, total } = found
    const owners = await storage.listings.owners(clients.map((client) => client.project.id))
    const decided = await findDecisions(request)
    const content = { clients, owners, state, total, counts, project, decided, nowMs: clock.now() }
    return { page: approvalsPage(request, content) }
  })

  post(patterns.approvals, async (request) => {
    const by = actorOf(request)
    const choices = choicesOf(request.form)
    const isDecline = request.form['decision'] === 'decline'
    const reason = parseForm(reasonForm, request.form).data?.reason
    if (reason === undefined) throw new PortalError('invalid_form')
    let changed = 0
    const sinceMs = clock.now()
    for (const { revision: seen, clientId } of choices) {
      const application = (await storage.applications.findClient(clientId))?.application
      try {
        if (!application) throw new ApplicationChanged()
        await perform(by, (act) =>
          isDecline
            ? decline(act, application, { revision: seen, reason: reason || undefined })
            : approve(act, application, seen),
        )
      } catch (error) {
        if (!(error instanceof ApplicationChanged || error instanceof BeingDeleted)) throw error
        changed += 1
      }
    }
    // What comes next in the same part of the queue.
    const { q = '', show = '', project = '' } = request.query as Readonly<Record<string, string>>
    const rest = {
      search: q,
      projectId: project || undefined,
      status: 'awaiting',
      limit: 0,
      offset: 0,
    } as const
    const isSearchDone = q !== '' && (await storage.listings.applications(rest)).total === 0
    const decided = decidedSince(sinceMs, isDecline, changed)
    const query = { q: isSearchDone ? '' : q, show, project, decided }
    return { redirectTo: linkTo(request.paths.approvals, query) }
  })

  /** For the URL of the page that confirms it. */
  function decidedSince(sinceMs: number, isDecline: boolean, changed = 0): string {
    return `${isDecline ? 'request_declined' : 'application_approved'} ${sinceMs} ${clock.now()} ${changed}`
  }

  get(patterns.decline, async (request) => {
    const client = await ownClient(storage, request)
    const { application, project } = client
    if (application.status !== 'pending' && !application.requested)
      return { redirectTo: request.paths.application(project.id, application.id) }
    return { page: declinePage(request, { client, from: String(request.query['from'] ?? '') }) }
  })

  postByOwner(patterns.approval, async (request) => {
    const client = await ownClient(storage, request)
    const { application, project } = client
    const { paths, form } = request
    const from = String(form['from'] ?? '')
    const reason = parseForm(reasonForm, form)
    if (!reason.data) {
      if (!request.developer.administrator) throw new PortalError('not_allowed')
      return { page: declinePage(request, { client, from, state: reason.state }), status: 422 }
    }
    const sinceMs = clock.now()
    const notice = await decide(application, request, reason.data.reason)
    if (from === 'approvals' && notice === 'decline_undone') return { redirectTo: paths.approvals, notice }
    if (from === 'approvals') {
      const decided = decidedSince(sinceMs, notice === 'request_declined')
      return { redirectTo: linkTo(paths.approvals, { decided }) }
    }
    return { redirectTo: paths.application(project.id, application.id), notice }
  })
}

/** What can be requested. */
const approvalFacets = { pending: 'New applications', changes: 'Changes' } as const

/** At most a page of the queue is decided on at once. */
const shownDecisions = 50
const shownNames = 3

/** What an administrator has just decided. */
interface Decisions {
  readonly isApproval: boolean
  readonly clients: readonly RegisteredClient[]
  /** On how many nothing was decided, because they had changed in the meantime. */
  readonly changed: number
}

interface ApprovalsContent {
  readonly clients: readonly RegisteredClient[]
  /** The names of the owners by project. */
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly state: ListState
  readonly total: number
  readonly counts: Readonly<Record<ListedStatus, number>>
  /** The project that the list is narrowed down to. */
  readonly project: Project | undefined
  readonly decided: Decisions | undefined
  readonly nowMs: number
}

/** What an administrator has to decide on: one by one, or several at once. */
function approvalsPage(request: DeveloperRequest, content: ApprovalsContent): PageContent {
  const { paths, csrfToken, url } = request
  const { clients, state, total, counts, project } = content
  const facets = Object.entries(approvalFacets) as [keyof typeof approvalFacets, string][]
  const body = html`${project === undefined ? '' : html`<p class="bar">Only of <a href="${paths.project(project.id)}">${project.name}</a> <a class="button small outline" href="${paths.approvals}">Show all projects</a></p>`}
    <form id="decisions" method="post" action="${url}">${csrfInput(csrfToken)}</form>
    ${list(columns(request, content), clients, {
      label: 'Applications to decide on',
      actions: selection(total),
      browsing: {
        path: paths.approvals,
        state,
        total,
        noun: 'applications to decide on',
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
    })}`
  return {
    title: 'Approvals',
    body,
    confirmation: content.decided && confirmationOf(request, content.decided),
  }
}

/** How many there were, which, and where each can be taken back. */
function confirmationOf(
  request: DeveloperRequest,
  { clients, isApproval, changed }: Decisions,
): Confirmation {
  const { paths } = request
  const title = `${formatCount(clients.length)} ${isApproval ? 'approved' : 'declined'}`
  const linkOf = ({ application, project }: RegisteredClient) =>
    html`<a dir="auto" href="${paths.application(project.id, application.id)}">${application.name}</a>`
  const [only] = clients
  const undo = (client: RegisteredClient) =>
    isApproval
      ? html`<a
          class="button small outline"
          href="${paths.settings(client.project.id, client.application.id)}#more"
          >Revoke<span class="visually-hidden"> ${client.application.name}</span></a
        >`
      : undoDeclineForm(request, client, 'approvals')
  const more = clients.length - shownNames
  const names = html`${clients.slice(0, shownNames).map((client, index) => html`${index === 0 ? '' : ', '}${linkOf(client)}`)}${more > 0 ? ` and ${formatCount(more)} more` : ''}`
  const body = html`<div class="bar">
      <p><strong>${title}</strong>${only && html`: ${names}`}</p>
      ${only && clients.length === 1 ? undo(only) : ''}
    </div>
    ${changed === 0 ? '' : html`<p>Nothing was decided on ${formatCount(changed)} that ${changed === 1 ? 'has' : 'have'} changed in the meantime: see below.</p>`}
    ${
      clients.length > 1
        ? html`<details>
            <summary>${isApproval ? 'Revoke some of them' : 'Undo some of them'}</summary>
            <ul class="rows">
              ${clients.map(
                (client) =>
                  html`<li class="bar">
                    <p>${linkOf(client)}</p>
                    <div class="actions">${undo(client)}</div>
                  </li>`,
              )}
            </ul>
          </details>`
        : ''
    }`
  return { title, body }
}

/** What is decided on the selected ones: as they were shown, whatever has changed since. */
function selection(total: number): SafeHtml {
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
    <span class="muted">of ${formatCount(total)}</span>
    <dialog id="decline-selected" closedby="any" aria-labelledby="decline-selected-title">
      <form method="dialog">
        <header>
          <h2 id="decline-selected-title" data-selected="Requests to decline:">
            Decline the selected requests?
          </h2>
        </header>
        <div>${textArea({ ...reason, form: 'decisions' }, emptyForm)}</div>
        <footer>
          <button type="button" class="outline" commandfor="decline-selected" command="close">Cancel</button>
          <button form="decisions" name="decision" value="decline" data-selected="Decline">Decline</button>
        </footer>
      </form>
    </dialog>
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
          below: html`<span class="narrow read">${additionsOf(application).join(', ')} · </span
            >${project.name} · ${ownersOf(owners.get(project.id))}`,
          belowHref: only === undefined ? linkTo(paths.approvals, { project: project.id }) : undefined,
        }),
    },
    {
      label: 'Adds',
      kind: 'text',
      leaves: 1,
      cell: ({ application }) => {
        const { note } = application.review ?? {}
        return html`${names(additionsOf(application), 3, 'read')}${note === undefined ? '' : html`<q class="cut below" title="${note}">${note}</q>`}`
      },
    },
    {
      label: 'Requested',
      kind: 'time',
      leaves: 3,
      order: 'requested',
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

interface DeclineContent {
  readonly client: RegisteredClient
  /** `approvals`: the administrator continues at the queue, otherwise at the application. */
  readonly from: string
  readonly state?: FormState
}

/** Asks why a request is declined. */
function declinePage(
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
  const title = requested ? `Decline changes to ${name}` : `Decline ${name}`
  return { title, body, trail, section: paths.approvals }
}
