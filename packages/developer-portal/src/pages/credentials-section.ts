import { html, type SafeHtml } from '@remix-run/html-template'
import type { PublicKey, RegisteredClient, StoredSecret } from '@tokenwell/token-service/plugin'
import { copyable } from '../components/copyable.ts'
import { dialog } from '../components/dialog.ts'
import { choice } from '../components/form.ts'
import { relativeTime } from '../components/time.ts'
import { overlaps } from '../forms/secret-overlaps.ts'
import type { DeveloperRequest } from '../request/portal-request.ts'

export interface CredentialsContent {
  readonly client: RegisteredClient
  readonly nowMs: number
  /** The ID of the secret that the rotation creates. */
  readonly submissionId: string
}

/** The client ID and the secrets, with dialogs to rotate and to revoke them. */
export function credentialsSection(request: DeveloperRequest, content: CredentialsContent): SafeHtml {
  const { client, nowMs } = content
  const { clientId, createdAtMs } = client.application
  return html`<section class="card" aria-labelledby="credentials">
    <div class="title">
      <h2 id="credentials">Credentials</h2>
      <div class="actions">
        <a class="button outline" href="${request.paths.keys(client.project.id, client.application.id)}"
          >Add public key</a
        >
        ${rotation(request, content)}
      </div>
    </div>
    <table class="stacked">
      <thead>
        <tr>
          <th scope="col">Credential</th>
          <th scope="col">Value</th>
          <th scope="col">Created</th>
          <th scope="col">Last used</th>
          <th scope="col">Expires</th>
          <th scope="col"><span class="visually-hidden">Action</span></th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <td data-label="Credential">Client ID</td>
          <td data-label="Value">${copyable({ id: 'client-id', value: clientId, what: 'client ID' })}</td>
          <td data-label="Created">${relativeTime(createdAtMs, nowMs)}</td>
          <td data-label="Last used">${lastUse(client.secrets, nowMs)}</td>
          <td data-label="Expires">never</td>
          <td></td>
        </tr>
        ${client.secrets.map((secret) => secretRow(request, content, secret))}
        ${client.application.keys.map((key) => keyRow(request, content, key))}
      </tbody>
    </table>
    ${client.secrets.length + client.application.keys.length === 0 ? html`<p>The application has no secret. Create one to get tokens.</p>` : ''}
  </section>`
}

function lastUse(secrets: readonly StoredSecret[], nowMs: number): SafeHtml | string {
  const lastUsedAtMs = Math.max(0, ...secrets.map((secret) => secret.lastUsedAtMs ?? 0))
  return lastUsedAtMs === 0 ? 'never' : relativeTime(lastUsedAtMs, nowMs)
}

function secretRow(
  { paths, csrfToken }: DeveloperRequest,
  { client: { application, project }, nowMs }: CredentialsContent,
  { id, prefix, createdAtMs, lastUsedAtMs, expiresAtMs }: StoredSecret,
): SafeHtml {
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs
  const lastUsed = lastUsedAtMs === undefined ? 'never' : relativeTime(lastUsedAtMs, nowMs)
  return html`<tr>
    <td data-label="Credential">Client secret</td>
    <td data-label="Value"><code>${prefix}…</code></td>
    <td data-label="Created">${relativeTime(createdAtMs, nowMs)}</td>
    <td data-label="Last used">${lastUsed}</td>
    <td data-label="Expires">
      ${isExpired ? html`<span class="badge" data-variant="danger">Expired</span>` : expiresAtMs === undefined ? 'never' : relativeTime(expiresAtMs, nowMs)}
    </td>
    <td class="action">
      ${dialog({
        id: `revoke-${id}`,
        label: html`Revoke<span class="visually-hidden"> the secret ${prefix}…</span>`,
        style: 'outline small',
        title: `Revoke the secret ${prefix}…?`,
        body: html`<p>
            Clients that use this secret stop getting tokens at once, and the tokens that were issued for it
            become invalid. This cannot be undone.
          </p>
          <p>Last used: <strong>${lastUsed}</strong>.</p>`,
        action: paths.secretRevocation(project.id, application.id, id),
        confirm: 'Revoke secret',
        csrfToken,
        danger: true,
      })}
    </td>
  </tr>`
}

function keyRow(
  { paths, csrfToken }: DeveloperRequest,
  { client: { application, project }, nowMs }: CredentialsContent,
  { id, name, createdAtMs, expiresAtMs }: PublicKey,
): SafeHtml {
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs
  return html`<tr>
    <td data-label="Credential">Public key</td>
    <td data-label="Value"><code>${name}</code></td>
    <td data-label="Created">${relativeTime(createdAtMs, nowMs)}</td>
    <td data-label="Last used"></td>
    <td data-label="Expires">
      ${isExpired ? html`<span class="badge" data-variant="danger">Expired</span>` : 'never'}
    </td>
    <td class="action">
      ${
        isExpired
          ? ''
          : dialog({
              id: `remove-key-${id}`,
              label: html`Remove<span class="visually-hidden"> the public key ${name}</span>`,
              style: 'outline small',
              title: 'Remove the public key?',
              body: html`<p>
                Clients that sign with this key stop getting tokens at once, and the tokens that were issued
                for it become invalid.
              </p>`,
              action: paths.keyRemoval(project.id, application.id, id),
              confirm: 'Remove key',
              csrfToken,
              danger: true,
            })
      }
    </td>
  </tr>`
}

function rotation(
  { paths, csrfToken }: DeveloperRequest,
  { client, submissionId }: CredentialsContent,
): SafeHtml {
  const { application, project, secrets } = client
  const isFirst = secrets.length === 0
  return dialog({
    id: 'rotate',
    label: isFirst ? 'Create a secret' : 'Rotate secret',
    style: '',
    title: isFirst ? 'Create a secret' : 'Rotate the secret',
    body: html`<input type="hidden" name="submission_id" value="${submissionId}" /> ${
        isFirst
          ? html`<input type="hidden" name="overlap" value="never" />
              <p>The secret is shown once.</p>`
          : html`<p>
                A new secret is created and shown once. The existing secrets stay valid while you deploy it,
                so that no client fails.
              </p>
              ${choice(
                {
                  name: 'overlap',
                  label: 'Existing secrets expire',
                  choices: overlaps.map(([value, text]) => [value, text]),
                },
                { values: { overlap: 'day' }, errors: {} },
              )}`
      }`,
    action: paths.secrets(project.id, application.id),
    confirm: 'Create a new secret',
    csrfToken,
  })
}
