import { html, type SafeHtml } from '@remix-run/html-template'
import { list } from '../layout/list.ts'
import { absent, relativeTime } from '../layout/time.ts'

const dayMs = 86_400_000

/** A row of the list. */
export interface Credential {
  /** The name of a key, or the start of a secret. */
  readonly name: SafeHtml
  readonly kind: SafeHtml | string
  readonly createdAtMs: number
  readonly lastUsed: SafeHtml | string
  readonly expiresAtMs?: number | undefined
  readonly menu?: SafeHtml | '' | undefined
}

/** The secrets and public keys of a client. */
export function credentialsList(credentials: readonly Credential[], nowMs: number): SafeHtml {
  return list<Credential>(
    [
      {
        label: 'Credential',
        kind: 'name',
        cell: ({ name, kind }) => html`${name}<span class="cut below">${kind}</span>`,
      },
      {
        label: 'Created',
        kind: 'time',
        leaves: 3,
        cell: ({ createdAtMs }) => relativeTime(createdAtMs, nowMs),
      },
      { label: 'Last used', kind: 'time', leaves: 1, cell: ({ lastUsed }) => lastUsed },
      { label: 'Expires', kind: 'time', cell: ({ expiresAtMs }) => expiry(expiresAtMs, nowMs) },
      { label: 'Actions', kind: 'menu', cell: ({ menu = '' }) => menu },
    ],
    credentials,
    {
      label: 'Credentials',
      empty: html`<p class="empty">There are no credentials. Create a secret to authenticate.</p>`,
    },
  )
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
