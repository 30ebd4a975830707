import { html, type SafeHtml } from '@remix-run/html-template'
import {
  isBeingDeleted,
  type Project,
  type RegisteredClient,
  type TokenRequestEntry,
} from '@tokenwell/token-service/plugin'
import { dialog } from '../components/dialog.ts'
import { choice, csrfInput } from '../components/form.ts'
import { describeOutcome } from '../components/outcomes.ts'
import { page } from '../components/page.ts'
import { statusBadge } from '../components/status-badge.ts'
import { duration, relativeTime, time } from '../components/time.ts'
import { usageChart } from '../components/usage-chart.ts'
import type { Usage } from '../components/usage.ts'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { credentialsSection } from './credentials-section.ts'

export interface ApplicationContent {
  readonly client: RegisteredClient
  readonly usage: Usage
  /** The latest token requests. */
  readonly requests: readonly TokenRequestEntry[]
  /** The projects that the application can be moved to. */
  readonly otherProjects: readonly Project[]
  readonly nowMs: number
  /** The ID of the secret that the rotation creates. */
  readonly submissionId: string
}

const responseForms = {
  products: 'with API products',
  refresh: 'with level and refresh token',
  rfc6749: 'as in RFC 6749',
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
  const body = html`${state(request, client)} ${credentialsSection(request, content)}
    <section class="card" aria-labelledby="usage">
      ${usageChart(content.usage, paths.application(project.id, application.id))}
    </section>
    ${recentRequests(content)} ${settings(request, client)} ${dangerZone(request, content)}`
  return page(request, { ...title, actions: decisions(request, client), body })
}

/** The buttons beside the title: what an administrator decides. */
export function decisions(
  request: DeveloperRequest,
  client: RegisteredClient,
  from = '',
): SafeHtml | undefined {
  const { status, requested, name } = client.application
  if (!request.developer.administrator) return undefined
  if (status !== 'approved') {
    return decide(request, client, { decision: 'approve', label: 'Approve', object: name, from })
  }
  if (!requested) return undefined
  const approve = { decision: 'approve', label: 'Approve changes', object: `to ${name}`, from }
  const decline = {
    decision: 'decline',
    label: 'Decline',
    object: `changes to ${name}`,
    style: 'outline',
    from,
  }
  return html`${decide(request, client, approve)} ${decide(request, client, decline)}`
}

interface Decision {
  readonly decision: string
  readonly label: string
  /** Completes the label for screen readers. */
  readonly object: string
  readonly style?: string
  readonly from: string
}

function decide(
  { paths, csrfToken }: DeveloperRequest,
  { application, project }: RegisteredClient,
  { decision, label, object, style = '', from }: Decision,
): SafeHtml {
  return html`<form method="post" action="${paths.approval(project.id, application.id)}">
    ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="${decision}" />
    <input type="hidden" name="revision" value="${application.revision}" />
    <input type="hidden" name="from" value="${from}" />
    <button class="${style}">${label}<span class="visually-hidden"> ${object}</span></button>
  </form>`
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

export function requestedText({
  products,
  lifetimeSeconds,
}: NonNullable<RegisteredClient['application']['requested']>): string {
  return `${products.join(', ') || 'no products'}; token lifetime ${duration(lifetimeSeconds)}`
}

function settings({ paths }: DeveloperRequest, { application, project }: RegisteredClient): SafeHtml {
  const { products, level, responseForm, lifetimeSeconds, createdAtMs, id } = application
  return html`<section class="card" aria-labelledby="settings">
    <div class="title">
      <h2 id="settings">Settings</h2>
      <div class="actions">
        <a class="button outline" href="${paths.settings(project.id, id)}">Edit settings</a>
      </div>
    </div>
    <dl class="pairs">
      <div>
        <dt>API products</dt>
        <dd>${products.length === 0 ? 'none' : products.join(', ')}</dd>
      </div>
      <div>
        <dt>Token lifetime</dt>
        <dd>${duration(lifetimeSeconds)}</dd>
      </div>
      <div>
        <dt>Token response</dt>
        <dd>${responseForms[responseForm]}</dd>
      </div>
      <div>
        <dt>Level</dt>
        <dd>${level === '' ? 'none' : level}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>${time(createdAtMs)}</dd>
      </div>
    </dl>
  </section>`
}

function recentRequests({ requests, nowMs }: ApplicationContent): SafeHtml {
  return html`<section class="card" aria-labelledby="requests">
    <h2 id="requests">Recent token requests</h2>
    ${
      requests.length === 0
        ? html`<p class="text-light">The application has not requested a token in the last 7 days.</p>`
        : html`<table class="stacked">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">Result</th>
                <th scope="col">Address</th>
                <th scope="col">Requests</th>
              </tr>
            </thead>
            <tbody>
              ${requests.map(
                ({ atMs, outcome, address, count }) =>
                  html`<tr>
                    <td data-label="Time">${relativeTime(atMs, nowMs)}</td>
                    <td data-label="Result">
                      <span class="badge" data-variant="${outcome === 'issued' ? 'success' : 'danger'}"
                        >${describeOutcome(outcome).label}</span
                      >
                    </td>
                    <td data-label="Address"><code>${address}</code></td>
                    <td data-label="Requests">${count.toLocaleString('en')}</td>
                  </tr>`,
              )}
            </tbody>
          </table>`
    }
  </section>`
}

function dangerZone(request: DeveloperRequest, { client, otherProjects }: ApplicationContent): SafeHtml {
  const { paths, csrfToken, developer } = request
  const { application, project } = client
  const { name, status } = application
  const approval = (decision: string) => ({
    action: paths.approval(project.id, application.id),
    csrfToken,
    field: html`<input type="hidden" name="decision" value="${decision}" />`,
  })
  const revokeTokens = approval('revoke_tokens')
  const revoke = approval('revoke')
  const rows = [
    status === 'approved' && {
      title: 'Revoke all tokens',
      text: 'The existing tokens become invalid. The application can get new ones.',
      button: dialog({
        id: 'revoke-tokens',
        label: 'Revoke all tokens',
        title: `Revoke all tokens of ${name}?`,
        body: html`${revokeTokens.field}
          <p>
            APIs will reject the tokens from now on. Clients get new tokens with their next token request;
            until then, their API requests fail.
          </p>`,
        confirm: 'Revoke all tokens',
        danger: true,
        ...revokeTokens,
      }),
    },
    status !== 'revoked' && {
      title: 'Revoke the application',
      text: 'It can no longer get tokens, and its existing tokens become invalid.',
      button: dialog({
        id: 'revoke-application',
        label: 'Revoke application',
        title: `Revoke ${name}?`,
        body: html`${revoke.field}
          <p>
            It can no longer get tokens, and its existing tokens become invalid at once.
            ${developer.administrator ? 'You can approve it again.' : 'Only an administrator can approve it again.'}
          </p>`,
        confirm: 'Revoke application',
        danger: true,
        ...revoke,
      }),
    },
    otherProjects.length > 0 && {
      title: 'Move to another project',
      text: 'Its client ID, secrets and tokens stay valid. Token responses name the other project’s organization.',
      button: dialog({
        id: 'move',
        label: 'Move',
        title: `Move ${name} to another project`,
        body: html`<p>The owners of the other project become the owners of the application.</p>
          ${choice(
            {
              name: 'project',
              label: 'Project',
              choices: otherProjects.map((other) => [other.id, other.name]),
            },
            { values: {}, errors: {} },
          )}`,
        action: paths.move(project.id, application.id),
        confirm: 'Move application',
        csrfToken,
      }),
    },
    {
      title: 'Delete the application',
      text: 'It can no longer get tokens. You can restore it for 30 days.',
      button: dialog({
        id: 'delete-application',
        label: 'Delete application',
        title: `Delete ${name}?`,
        body: html`<input type="hidden" name="decision" value="delete" />
          <p>
            It can no longer get tokens, and its existing tokens become invalid at once. It can be restored
            with the same client ID and secrets for 30 days; then it is permanently deleted.
          </p>`,
        action: paths.deletion(project.id, application.id),
        confirm: 'Delete application',
        csrfToken,
        danger: true,
      }),
    },
  ].filter((row) => row !== false)
  return html`<section class="card" aria-labelledby="more">
    <h2 id="more">Move, revoke or delete</h2>
    ${dangerRows(rows)}
  </section>`
}

export interface DangerRow {
  readonly title: string
  readonly text: string
  readonly button: SafeHtml
}

export function dangerRows(rows: readonly DangerRow[]): SafeHtml {
  return html`<ul class="rows">
    ${rows.map(
      ({ title, text, button }) =>
        html`<li>
          <p><strong>${title}</strong><br /><span class="text-light">${text}</span></p>
          <div class="actions">${button}</div>
        </li>`,
    )}
  </ul>`
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
