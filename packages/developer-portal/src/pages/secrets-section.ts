import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient, StoredSecret } from '@tokenwell/token-service/plugin'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { overlaps } from '../forms/secret-overlaps.ts'
import { secretName } from '../components/client-summary.ts'
import { choice, csrfInput } from '../components/form.ts'
import { time } from '../components/time.ts'

export interface SecretsContent {
  readonly client: RegisteredClient
  readonly nowMs: number
  /** The ID of the secret that the form creates. */
  readonly submissionId: string
}

/** An application's secrets, with forms to revoke and to rotate them. */
export function secretsSection(request: DeveloperRequest, content: SecretsContent): SafeHtml {
  const { client, submissionId } = content
  const { application, project } = client
  const state = { values: { overlap: 'day' }, errors: {} }
  return html`<section class="card" aria-labelledby="secrets">
    <h2 id="secrets">Client secrets</h2>
    ${
      client.secrets.length === 0
        ? html`<p>The application has no secret and cannot get tokens. Create one below.</p>`
        : html`<ul class="rows">
            ${client.secrets.map((secret) => secretRow(request, content, secret))}
          </ul>`
    }
    <form method="post" action="${request.paths.secrets(project.id, application.id)}" class="inset">
      <h3>Rotate</h3>
      <p class="hint">Creates a new secret. The existing secrets stay valid while you deploy it.</p>
      ${csrfInput(request.csrfToken)}
      <input type="hidden" name="submission_id" value="${submissionId}" />
      ${choice({ name: 'overlap', label: 'Existing secrets expire', choices: overlaps.map(([value, text]) => [value, text]) }, state)}
      <button>Create a new secret</button>
    </form>
  </section>`
}

function secretRow(
  { paths, csrfToken }: DeveloperRequest,
  { client: { application, project }, nowMs }: SecretsContent,
  secret: StoredSecret,
): SafeHtml {
  const { id, createdAtMs, lastUsedAtMs, expiresAtMs } = secret
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs
  return html`<li class="row">
    <p class="row-title">
      ${secretName(secret)} ${isExpired ? html`<span class="badge revoked">expired</span>` : ''}
    </p>
    <dl class="pairs">
      <div>
        <dt>Created</dt>
        <dd>${time(createdAtMs)}</dd>
      </div>
      <div>
        <dt>Last used</dt>
        <dd>${lastUsedAtMs === undefined ? 'never' : time(lastUsedAtMs)}</dd>
      </div>
      <div>
        <dt>${isExpired ? 'Expired' : 'Expires'}</dt>
        <dd>${expiresAtMs === undefined ? 'never' : time(expiresAtMs)}</dd>
      </div>
    </dl>
    <details>
      <summary>Revoke <span class="visually-hidden">the secret ${secret.prefix}…</span></summary>
      <p>
        Clients that use this secret will stop getting tokens. Tokens that were issued for it become invalid.
      </p>
      <form method="post" action="${paths.secretRevocation(project.id, application.id, id)}">
        ${csrfInput(csrfToken)}<button class="danger">Revoke this secret</button>
      </form>
    </details>
  </li>`
}
