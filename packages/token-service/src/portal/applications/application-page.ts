import { html, type SafeHtml } from '@remix-run/html-template'
import { isBeingDeleted, type Project, type RegisteredClient } from '../../applications/application.ts'
import type { TokenRequestEntry } from '../../storage/storage.ts'
import { credentialsSection, type CredentialsContent } from '../secrets/credentials-section.ts'
import { csrfInput } from '../layout/form.ts'
import { page } from '../layout/page.ts'
import { statusBadge } from './status-badge.ts'
import { time } from '../layout/time.ts'
import { usageChart } from './usage-chart.ts'
import type { Usage } from './usage.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { decisions, requestedText } from '../approvals/approval-decisions.ts'
import { dangerSection } from './danger-section.ts'
import { recentRequests } from './recent-requests.ts'
import { settingsSection } from './settings-section.ts'

export interface ApplicationContent extends CredentialsContent {
  readonly client: RegisteredClient
  readonly usage: Usage
  /** The latest token requests. */
  readonly requests: readonly TokenRequestEntry[]
  /** The projects that the application can be moved to. */
  readonly otherProjects: readonly Project[]
}

export function applicationPage(request: DeveloperRequest, content: ApplicationContent): SafeHtml {
  const { paths } = request
  const { client } = content
  const { application, project } = client
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  const title = { title: application.name, trail, badge: statusBadge(client) }
  if (isBeingDeleted(client)) return page(request, { ...title, body: deletedNotice(request, client) })
  const body = html`${state(request, client)}
    ${credentialsSection(request, ownerOf(request, client), content)}
    <section class="card" aria-labelledby="usage">
      ${usageChart(content.usage, paths.application(project.id, application.id))}
    </section>
    ${recentRequests(content.requests, content.nowMs)} ${settingsSection(request, client)}
    ${dangerSection(request, client, content.otherProjects)}`
  return page(request, { ...title, actions: decisions(request, client), body })
}

function ownerOf({ paths }: DeveloperRequest, { application, project, secrets }: RegisteredClient) {
  const ids = [project.id, application.id]
  return {
    ...application,
    secrets,
    paths: {
      secrets: paths.secrets(...ids),
      keys: paths.keys(...ids),
      secretRevocation: (id: string) => paths.secretRevocation(...ids, id),
      key: (id: string) => paths.key(...ids, id),
      keyRemoval: (id: string) => paths.keyRemoval(...ids, id),
    },
    consequence: (credential: string) =>
      `Clients that use this ${credential} can no longer get tokens, and the tokens that were obtained with it become invalid at once.`,
  }
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
          <strong>Requested:</strong> ${requestedText(requested)}. The settings below stay in effect until an
          administrator approves these.
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
