import { html, type SafeHtml } from '@remix-run/html-template'
import { isBeingDeleted, type RegisteredClient } from '../../storage/application.ts'
import { approvalButtons, requestedText } from '../approvals/approval-buttons.ts'
import { csrfInput } from '../layout/form.ts'
import { page } from '../layout/page.ts'
import { time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
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
): SafeHtml {
  const { paths } = request
  const { application, project } = client
  const trail = [
    ['Applications', paths.applications],
    [project.name, paths.project(project.id)],
  ] as const
  const title = { title: application.name, trail, badge: statusBadge(client) }
  if (isBeingDeleted(client)) return page(request, { ...title, body: deletedNotice(request, client) })
  const framed = html`${state(request, client)}
    <nav class="page-tabs" aria-label="Application">
      <ul>
        ${tabs.map(
          ([name, label]) =>
            html`<li>
              <a
                href="${paths[name](project.id, application.id)}"
                ${name === tab ? html`aria-current="page"` : ''}
                >${label}</a
              >
            </li>`,
        )}
      </ul>
    </nav>
    ${body}`
  return page(request, { ...title, actions: approvalButtons(request, client), body: framed })
}

/** The decision that the application waits for. */
function state({ developer }: DeveloperRequest, { application }: RegisteredClient): SafeHtml | string {
  const { status, requested } = application
  if (status !== 'approved') {
    return html`<div class="notice" data-variant="warning">
      <p>
        The application cannot get tokens
        ${developer.administrator ? 'until you approve it.' : 'until an administrator approves it.'}
      </p>
    </div>`
  }
  return requested
    ? html`<div class="notice" data-variant="warning">
        <p>
          <strong>Requested:</strong> ${requestedText(requested, application)}. The current settings stay in
          effect until an administrator approves these.
        </p>
      </div>`
    : ''
}

function deletedNotice(
  { paths, csrfToken }: DeveloperRequest,
  { application, project }: RegisteredClient,
): SafeHtml {
  const { id, deletesAtMs } = application
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
