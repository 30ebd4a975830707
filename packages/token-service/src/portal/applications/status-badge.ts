import { html, type SafeHtml } from '@remix-run/html-template'
import { isBeingDeleted, type RegisteredClient } from '../../storage/application.ts'

const labels = {
  approved: ['success', 'Approved'],
  pending: ['warning', 'Pending approval'],
  revoked: ['danger', 'Revoked'],
  declined: ['danger', 'Declined'],
  deleted: ['danger', 'Deleted'],
} as const

/** The state of an application. */
export function statusBadge(client: Pick<RegisteredClient, 'application' | 'project'>): SafeHtml {
  const { status, requested, review } = client.application
  const decided = status === 'revoked' && review?.declined ? 'declined' : status
  const state = isBeingDeleted(client) ? 'deleted' : decided
  return html`${badge(state)}
  ${requested && state === 'approved' ? html`<span class="badge" data-variant="warning">Changes pending approval</span>` : ''}`
}

export function badge(state: keyof typeof labels): SafeHtml {
  const [variant, label] = labels[state]
  return html`<span class="badge" data-variant="${variant}">${label}</span>`
}
