import { type SafeHtml, html } from '@remix-run/html-template'
import { bindingTexts, getsJwts, kindOfTokens } from './application-form.ts'
import { statedFields } from './settings.ts'
import { csrfInput } from '../../portal/layout/form.ts'
import { linkTo } from '../../portal/layout/paging.ts'
import { duration } from '../../portal/layout/time.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import type { Application, Approval, RegisteredClient, Review } from '../../storage/application.ts'

/** The buttons beside the title: what an administrator decides. */
export function approvalButtons(request: DeveloperRequest, client: RegisteredClient): SafeHtml | undefined {
  const { status, requested, name } = client.application
  if (!request.developer.administrator) return undefined
  const approval = { decision: 'approve', label: 'Approve', object: name }
  if (status === 'pending') return html`${decide(request, client, approval)} ${declineLink(request, client)}`
  if (status === 'revoked') return decide(request, client, approval)
  if (!requested) return undefined
  const changes = { ...approval, label: 'Approve changes', object: `to ${name}` }
  return html`${decide(request, client, changes)} ${declineLink(request, client)}`
}

/** Leads to the page that asks for the reason. `from`: where the administrator continues, if not at the application. */
export function declineLink(
  request: DeveloperRequest,
  { application: { id, projectId, name, requested } }: Pick<RegisteredClient, 'application'>,
  from?: 'approvals',
): SafeHtml {
  const path = request.paths.decline(projectId, id)
  return html`<a
    class="${from ? 'button small ghost' : 'button outline'}"
    href="${linkTo(path, { from: from ?? originOf(request) })}"
    >Decline<span class="visually-hidden"> ${requested ? `changes to ${name}` : name}</span></a
  >`
}

/** Takes the last decline back, until the application changes. */
export function undoDeclineForm(
  request: DeveloperRequest,
  client: RegisteredClient,
  from = '',
): SafeHtml | '' {
  const { review, revision, id } = client.application
  if (!request.developer.administrator || review?.declined?.revision !== revision) return ''
  return html`<form method="post" action="${request.paths.approval(client.project.id, id)}">
    ${csrfInput(request.csrfToken)}<input type="hidden" name="decision" value="undo_decline" />
    <input type="hidden" name="from" value="${from}" />
    <button class="small outline">Undo</button>
  </form>`
}

interface Decision {
  readonly decision: string
  readonly label: string
  /** Completes the label for screen readers. */
  readonly object: string
}

function decide(
  request: DeveloperRequest,
  { application, project }: RegisteredClient,
  { decision, label, object }: Decision,
): SafeHtml {
  return html`<form method="post" action="${request.paths.approval(project.id, application.id)}">
    ${csrfInput(request.csrfToken)}<input type="hidden" name="decision" value="${decision}" />
    <input type="hidden" name="from" value="${originOf(request)}" />
    <input type="hidden" name="revision" value="${application.revision}" />
    <button>${label}<span class="visually-hidden"> ${object}</span></button>
  </form>`
}

/** Where an administrator continues after a decision: at the queue, if that is where they came from. */
function originOf({ query }: DeveloperRequest): '' | 'approvals' {
  return query['from'] === 'approvals' ? 'approvals' : ''
}

/** What the owner wrote about the request. */
export function requesterNote({ note }: Review = {}): SafeHtml | '' {
  return note === undefined ? '' : html`<p class="lines"><strong>Note:</strong> ${note}</p>`
}

/** What is requested; of what token responses state, only what differs. */
export function requestedText(requested: Approval, approved: Approval): string {
  const { products, scopes, lifetimeSeconds } = requested
  const format = kindOfTokens(requested)
  const tokens = format === kindOfTokens(approved) ? '' : `; ${format}`
  const scope = scopes.length > 0 ? `; scopes ${scopes.join(' ')}` : ''
  const stated = statedFields
    .filter(([field]) => requested[field] !== approved[field])
    .map(([field, label]) => `; ${label} ${requested[field] || 'none'}`)
  return `${products.join(', ') || 'no products'}${scope}; token lifetime ${duration(lifetimeSeconds)}${tokens}${stated.join('')}`
}

/** What an approval would add to what the application has, each in a few words; of a new one, that is everything. */
export function additionsOf(application: Application): readonly string[] {
  const { requested } = application
  const wanted = requested ?? application
  const has: Partial<Approval> = requested ? application : {}
  const added = (all: readonly string[], existing: readonly string[] = []) =>
    all.filter((each) => !existing.includes(each))
  const isOtherFormat = getsJwts(wanted) && !getsJwts(has)
  return [
    ...added(wanted.products, has.products),
    ...added(wanted.scopes, has.scopes),
    ...(wanted.lifetimeSeconds > (has.lifetimeSeconds ?? 0)
      ? [`tokens for ${duration(wanted.lifetimeSeconds)}`]
      : []),
    ...(isOtherFormat ? ['JWTs'] : []),
    ...added(wanted.audiences, has.audiences).map((audience) => `for ${audience}`),
    ...(requested && requested.dpop !== application.dpop ? [bindingTexts[requested.dpop]] : []),
    ...(requested
      ? statedFields
          .filter(([field]) => requested[field] !== application[field])
          .map(([field, label]) => `${label} ${requested[field] || 'none'}`)
      : []),
  ]
}
