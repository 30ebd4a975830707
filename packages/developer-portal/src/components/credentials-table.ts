import { html, type SafeHtml } from '@remix-run/html-template'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { dialog } from './dialog.ts'
import { relativeTime } from './time.ts'

/** A row of the table. */
export interface Credential {
  readonly kind: 'Client ID' | 'Client secret' | 'Public key'
  readonly value: SafeHtml
  readonly createdAtMs: number
  /** Shown in a column of its own, which is missing if no row has it. */
  readonly lastUsed?: SafeHtml | string | undefined
  readonly expiresAtMs?: number | undefined
  readonly action?: SafeHtml | string | undefined
}

/** The client ID, secrets and public keys of a client. */
export function credentialsTable(credentials: readonly Credential[], nowMs: number): SafeHtml {
  const showsLastUse = credentials.some(({ lastUsed }) => lastUsed !== undefined)
  return html`<table class="stacked">
    <thead>
      <tr>
        <th scope="col">Credential</th>
        <th scope="col">Value</th>
        <th scope="col">Created</th>
        ${showsLastUse ? html`<th scope="col">Last used</th>` : ''}
        <th scope="col">Expires</th>
        <th scope="col"><span class="visually-hidden">Action</span></th>
      </tr>
    </thead>
    <tbody>
      ${credentials.map(
        ({ kind, value, createdAtMs, lastUsed = '', expiresAtMs, action }) =>
          html`<tr>
            <td data-label="Credential">${kind}</td>
            <td data-label="Value">${value}</td>
            <td data-label="Created">${relativeTime(createdAtMs, nowMs)}</td>
            ${showsLastUse ? html`<td data-label="Last used">${lastUsed}</td>` : ''}
            <td data-label="Expires">${expiry(expiresAtMs, nowMs)}</td>
            ${action === undefined ? html`<td></td>` : html`<td class="action">${action}</td>`}
          </tr>`,
      )}
    </tbody>
  </table>`
}

function expiry(expiresAtMs: number | undefined, nowMs: number): SafeHtml | string {
  if (expiresAtMs === undefined) return 'never'
  if (expiresAtMs <= nowMs) return html`<span class="badge" data-variant="danger">Expired</span>`
  return relativeTime(expiresAtMs, nowMs)
}

/** Revokes a secret after a confirmation; `consequences` are paragraphs. */
export function secretRevocation(
  { csrfToken }: DeveloperRequest,
  { id, prefix }: { readonly id: string; readonly prefix: string },
  path: string,
  consequences: SafeHtml,
): SafeHtml {
  return dialog({
    id: `revoke-${id}`,
    label: html`Revoke<span class="visually-hidden"> the secret ${prefix}…</span>`,
    style: 'outline small',
    title: `Revoke the secret ${prefix}…?`,
    body: consequences,
    action: path,
    confirm: 'Revoke secret',
    csrfToken,
    danger: true,
  })
}
