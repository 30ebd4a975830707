import { html, type SafeHtml } from '@remix-run/html-template'
import type { Approval, RegisteredClient } from '../../storage/application.ts'
import { csrfInput } from '../layout/form.ts'
import { duration } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

/** The buttons beside the title: what an administrator decides. */
export function approvalButtons(request: DeveloperRequest, client: RegisteredClient): SafeHtml | undefined {
  const { status, requested, name } = client.application
  if (!request.developer.administrator) return undefined
  const approval = { decision: 'approve', label: 'Approve', object: name }
  const rejection = { label: 'Decline', style: 'outline' }
  if (status === 'pending') {
    return html`${decide(request, client, approval)}
    ${decide(request, client, { ...rejection, decision: 'revoke', object: name })}`
  }
  if (status === 'revoked') return decide(request, client, approval)
  if (!requested) return undefined
  const object = `changes to ${name}`
  return html`${decide(request, client, { ...approval, label: 'Approve changes', object: `to ${name}` })}
  ${decide(request, client, { ...rejection, decision: 'decline', object })}`
}

interface Decision {
  readonly decision: string
  readonly label: string
  /** Completes the label for screen readers. */
  readonly object: string
  readonly style?: string
}

function decide(
  { paths, csrfToken }: DeveloperRequest,
  { application, project }: RegisteredClient,
  { decision, label, object, style = '' }: Decision,
): SafeHtml {
  return html`<form method="post" action="${paths.approval(project.id, application.id)}">
    ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="${decision}" />
    <input type="hidden" name="revision" value="${application.revision}" />
    <button class="${style}">${label}<span class="visually-hidden"> ${object}</span></button>
  </form>`
}

/** What is requested; of what token responses state, only what differs. */
export function requestedText(requested: Approval, approved: Approval): string {
  const { products, scopes, lifetimeSeconds } = requested
  const format = tokenFormatText(requested)
  const tokens = format === tokenFormatText(approved) ? '' : `; ${format}`
  const scope = scopes.length > 0 ? `; scopes ${scopes.join(' ')}` : ''
  const stated = statedFields
    .filter(([field]) => requested[field] !== approved[field])
    .map(([field, label]) => `; ${label} ${requested[field] || 'none'}`)
  return `${products.join(', ') || 'no products'}${scope}; token lifetime ${duration(lifetimeSeconds)}${tokens}${stated.join('')}`
}

/** What kind of tokens an application gets, and for which APIs. */
export function tokenFormatText({
  tokenFormat,
  audiences,
}: Pick<Approval, 'tokenFormat' | 'audiences'>): string {
  return tokenFormat === 'jwt' ? `JWTs for ${audiences.join(', ')}` : 'opaque tokens'
}

/** What token responses state of an application. */
export const statedFields = [
  ['name', 'name'],
  ['level', 'level'],
  ['organizationName', 'organisation'],
  ['developerEmail', 'developer email'],
] as const
