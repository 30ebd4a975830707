import { html, type SafeHtml } from '@remix-run/html-template'
import { isBeingDeleted, type RegisteredClient } from '../../storage/application.ts'
import { approvalButtons, requestedText, requesterNote, undoDeclineForm } from './approval-buttons.ts'
import { clientIdLine } from '../../portal/layout/copyable.ts'
import { csrfInput } from '../../portal/layout/form.ts'
import { pageTabs } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { time } from '../../portal/layout/time.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import { statusBadge } from './status-badge.ts'

const tabs = [
  ['application', 'Overview'],
  ['credentials', 'Credentials'],
  ['requests', 'Requests'],
  ['settings', 'Settings'],
] as const

export type ApplicationTab = (typeof tabs)[number][0]

/** A page of an application: its name, its state, and the tabs. One that is being deleted can only be restored. */
export function applicationFrame(
  request: DeveloperRequest,
  client: RegisteredClient,
  tab: ApplicationTab,
  body: SafeHtml,
): PageContent {
  const { paths } = request
  const { application, project } = client
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  const title = { title: application.name, trail, badge: statusBadge(client) }
  if (isBeingDeleted(client)) return { ...title, body: deletedNotice(request, client) }
  const framed = html`${clientIdLine(application.clientId)} ${state(request, client)}
  ${pageTabs(
    'Application',
    tabs.map(([name, label]) => ({
      label,
      href: paths[name](project.id, application.id),
      isCurrent: name === tab,
    })),
  )}
  ${body}`
  return { ...title, actions: approvalButtons(request, client), body: framed }
}

/** The decision that the application waits for, or that was made last. */
function state(request: DeveloperRequest, client: RegisteredClient): SafeHtml {
  const { developer } = request
  const { status, requested, review } = client.application
  const isDeclined = status === 'revoked' && review?.declined !== undefined
  const waiting =
    status === 'approved'
      ? requested &&
        html`<strong>Requested:</strong> ${requestedText(requested, client.application)}. The current settings
          stay in effect until an administrator approves these.`
      : html`The application cannot get tokens
        ${developer.administrator ? 'until you approve it.' : 'until an administrator approves it.'}`
  return html`${declinedNotice(request, client)}
  ${
    waiting && !isDeclined
      ? html`<div class="notice" data-variant="warning">
          <p>${waiting}</p>
          ${requesterNote(review)}
        </div>`
      : ''
  }`
}

function declinedNotice(request: DeveloperRequest, client: RegisteredClient): SafeHtml | '' {
  const { paths, developer } = request
  const { application, project } = client
  const { status, review } = application
  if (!review?.declined) return ''
  const { reason, requested } = review.declined
  const what = requested ? 'the requested changes' : 'the application'
  const next =
    status === 'revoked' && !developer.administrator
      ? html` Change its <a href="${paths.settings(project.id, application.id)}">settings</a> to request
          approval again.`
      : ''
  return html`<div class="notice bar" data-variant="danger">
    <p>
      An administrator declined
      ${what}${reason === undefined ? '.' : html`: <span class="lines">${reason}</span>`}${next}
    </p>
    ${undoDeclineForm(request, client)}
  </div>`
}

function deletedNotice(
  { paths, csrfToken, developer }: DeveloperRequest,
  { application, project }: RegisteredClient,
): SafeHtml {
  const { id, deletesAtMs, deletedBy } = application
  if (deletesAtMs !== undefined && deletedBy === 'administrator' && !developer.administrator)
    return html`<div class="notice" data-variant="danger">
      <p>
        An administrator deleted the application, and it cannot get tokens. Only an administrator can restore
        it, until ${time(deletesAtMs)}.
      </p>
    </div>`
  return html`<div class="notice" data-variant="danger">
    ${
      deletesAtMs === undefined
        ? html`<p>
            The project of this application was deleted. Restore
            <a href="${paths.project(project.id)}">the project</a> to restore the application.
          </p>`
        : html`<p>
              The application was deleted and cannot get tokens. It can be restored until
              ${time(deletesAtMs)}.
            </p>
            <form method="post" action="${paths.deletion(project.id, id)}">
              ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="restore" />
              <button>Restore application</button>
            </form>`
    }
  </div>`
}
