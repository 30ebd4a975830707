import { html, type SafeHtml } from '@remix-run/html-template'
import type { PublicKey, RegisteredClient, StoredSecret } from '@tokenwell/token-service/plugin'
import { copyable } from '../components/copyable.ts'
import { credentialsTable, secretRevocation, type Credential } from '../components/credentials-table.ts'
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
    ${credentialsTable(
      [
        {
          kind: 'Client ID',
          value: copyable({ id: 'client-id', value: clientId, what: 'client ID' }),
          createdAtMs,
          lastUsed: lastUse(client.secrets, nowMs),
        },
        ...client.secrets.map((secret) => secretCredential(request, content, secret)),
        ...client.application.keys.map((key) => keyCredential(request, content, key)),
      ],
      nowMs,
    )}
    ${client.secrets.length + client.application.keys.length === 0 ? html`<p>The application has no credentials. Create a secret to get tokens.</p>` : ''}
  </section>`
}

function lastUse(secrets: readonly StoredSecret[], nowMs: number): SafeHtml | string {
  const lastUsedAtMs = Math.max(0, ...secrets.map((secret) => secret.lastUsedAtMs ?? 0))
  return lastUsedAtMs === 0 ? 'never' : relativeTime(lastUsedAtMs, nowMs)
}

function secretCredential(
  request: DeveloperRequest,
  { client: { application, project }, nowMs }: CredentialsContent,
  secret: StoredSecret,
): Credential {
  const { id, prefix, createdAtMs, lastUsedAtMs, expiresAtMs } = secret
  const lastUsed = lastUsedAtMs === undefined ? 'never' : relativeTime(lastUsedAtMs, nowMs)
  const consequences = html`<p>
      Clients that use this secret stop getting tokens at once, and the tokens that were issued for it become
      invalid. This cannot be undone.
    </p>
    <p>Last used: <strong>${lastUsed}</strong>.</p>`
  const path = request.paths.secretRevocation(project.id, application.id, id)
  const action = secretRevocation(request, secret, path, consequences)
  return {
    kind: 'Client secret',
    value: html`<code>${prefix}…</code>`,
    createdAtMs,
    lastUsed,
    expiresAtMs,
    action,
  }
}

function keyCredential(
  { paths, csrfToken }: DeveloperRequest,
  { client: { application, project }, nowMs }: CredentialsContent,
  { id, name, createdAtMs, expiresAtMs }: PublicKey,
): Credential {
  const isExpired = expiresAtMs !== undefined && expiresAtMs <= nowMs
  const removal = dialog({
    id: `remove-key-${id}`,
    label: html`Remove<span class="visually-hidden"> the public key ${name}</span>`,
    style: 'outline small',
    title: 'Remove the public key?',
    body: html`<p>
      Clients that sign with this key stop getting tokens at once, and the tokens that were issued for it
      become invalid.
    </p>`,
    action: paths.keyRemoval(project.id, application.id, id),
    confirm: 'Remove key',
    csrfToken,
    danger: true,
  })
  const action = isExpired ? '' : removal
  return { kind: 'Public key', value: html`<code>${name}</code>`, createdAtMs, expiresAtMs, action }
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
