import { html, type SafeHtml } from '@remix-run/html-template'
import type { ApplicationStatus, RegisteredClient, StoredSecret } from '@tokenwell/token-service/plugin'
import type { Paths } from '../request/routes.ts'
import { copyable } from './copyable.ts'

const statusLabels: Record<ApplicationStatus, string> = {
  approved: 'approved',
  pending: 'pending approval',
  revoked: 'revoked',
}

export function statusBadge(status: ApplicationStatus): SafeHtml {
  return html`<span class="badge ${status}">${statusLabels[status]}</span>`
}

/** The start of a secret, by which its owner recognises it. */
export function secretName({ prefix }: StoredSecret): SafeHtml {
  return html`<code>${prefix === '' ? '' : prefix}…</code>`
}

/** An application in a list, with its client ID and the start of each secret. */
export function clientSummary({ application, project, secrets }: RegisteredClient, paths: Paths): SafeHtml {
  const { id, clientId, name, status } = application
  return html`<li class="row">
    <p class="row-title"><a href="${paths.application(project.id, id)}">${name}</a> ${statusBadge(status)}</p>
    <dl class="pairs">
      <div>
        <dt>Client ID</dt>
        <dd>${copyable({ id: `client-id-${id}`, value: clientId, what: `client ID of ${name}` })}</dd>
      </div>
      <div>
        <dt>${secrets.length === 1 ? 'Client secret' : 'Client secrets'}</dt>
        <dd>${secrets.length === 0 ? 'none' : secrets.map((secret) => html`${secretName(secret)} `)}</dd>
      </div>
    </dl>
  </li>`
}
