import { html, type SafeHtml } from '@remix-run/html-template'
import { note, state } from '../../portal/layout/list.ts'
import { relativeTime, timeSince } from '../../portal/layout/time.ts'
import type { CurrentFailure } from '../search/listings.ts'
import { describeOutcome } from './usage.ts'
import { isBeingDeleted, type RegisteredClient } from '../../storage/application.ts'

const expiryNoticeMs = 7 * 86_400_000

const labels = {
  approved: ['success', 'Approved'],
  pending: ['warning', 'Pending approval'],
  revoked: ['danger', 'Revoked'],
  declined: ['danger', 'Declined'],
  deleted: ['danger', 'Deleted'],
} as const

type State = keyof typeof labels

function stateOf(client: Pick<RegisteredClient, 'application' | 'project'>): State {
  const { status, review } = client.application
  if (isBeingDeleted(client)) return 'deleted'
  return status === 'revoked' && review?.declined ? 'declined' : status
}

/** The state of an application, beside its name. */
export function statusBadge(client: Pick<RegisteredClient, 'application' | 'project'>): SafeHtml {
  const current = stateOf(client)
  const { requested } = client.application
  return html`${badge(current)}
  ${requested && current === 'approved' ? html`<span class="badge" data-variant="warning">Changes pending approval</span>` : ''}`
}

export function badge(name: State): SafeHtml {
  const [variant, label] = labels[name]
  return html`<span class="badge" data-variant="${variant}">${label}</span>`
}

/** The state of an application in a list, and below it what somebody has to do: find out why it fails, decide, or rotate a secret. */
export function listedStatus(
  { application, project, secrets }: RegisteredClient,
  nowMs: number,
  failure?: CurrentFailure,
): SafeHtml {
  const current = stateOf({ application, project })
  const [variant, label] = labels[current]
  const expiries = secrets.map(({ expiresAtMs = Infinity }) => expiresAtMs).filter((each) => each > nowMs)
  const next = Math.min(...expiries)
  if (failure && current === 'approved') {
    const since = timeSince(failure.sinceMs, nowMs, 'short')
    return html`${state('danger', since ? html`Failing for ${since}` : 'Failing now')}<span
        class="cut below"
        data-variant="danger"
        >${describeOutcome(failure.outcome).label}</span
      >`
  }
  const waiting =
    current !== 'approved'
      ? ''
      : application.requested
        ? note('Changes requested')
        : next - nowMs <= expiryNoticeMs
          ? note(html`Secret expires ${relativeTime(next, nowMs)}`)
          : ''
  return html`${state(variant, label)}${waiting}`
}
