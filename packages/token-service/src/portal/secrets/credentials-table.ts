import { html, type SafeHtml } from '@remix-run/html-template'
import { absent, relativeTime } from '../layout/time.ts'

const dayMs = 86_400_000

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
        <th scope="col">Type</th>
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
            <td data-label="Type">${kind}</td>
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

function expiry(expiresAtMs: number | undefined, nowMs: number): SafeHtml {
  if (expiresAtMs === undefined) return absent('never')
  if (expiresAtMs <= nowMs) return html`<span class="badge" data-variant="danger">Expired</span>`
  return expiryBadge(expiresAtMs, nowMs)
}

/** When something expires: a warning in the last week, and more urgent on the last day. */
export function expiryBadge(expiresAtMs: number, nowMs: number): SafeHtml {
  const leftMs = expiresAtMs - nowMs
  const time = relativeTime(expiresAtMs, nowMs)
  if (leftMs > 7 * dayMs) return time
  return html`<span class="badge" data-variant="${leftMs <= dayMs ? 'danger' : 'warning'}">${time}</span>`
}
