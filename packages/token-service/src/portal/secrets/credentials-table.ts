import { html, type SafeHtml } from '@remix-run/html-template'
import { relativeTime } from '../layout/time.ts'

/** A row of the table. */
export interface Credential {
  readonly kind: 'Client ID' | 'Client secret' | 'Public key'
  readonly value: SafeHtml
  readonly createdAtMs: number
  readonly lastUsed: SafeHtml | string
  readonly expiresAtMs?: number | undefined
  readonly action?: SafeHtml | '' | undefined
}

/** The client ID, secrets and public keys of a client. */
export function credentialsTable(credentials: readonly Credential[], nowMs: number): SafeHtml {
  return html`<table class="stacked">
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
      ${credentials.map(
        ({ kind, value, createdAtMs, lastUsed, expiresAtMs, action }) =>
          html`<tr>
            <td data-label="Credential">${kind}</td>
            <td data-label="Value">${value}</td>
            <td data-label="Created">${relativeTime(createdAtMs, nowMs)}</td>
            <td data-label="Last used">${lastUsed}</td>
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
