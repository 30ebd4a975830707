import { html, type SafeHtml } from '@remix-run/html-template'
import type { Approval, RegisteredClient } from '@tokenwell/token-service/plugin'
import { csrfInput } from '../../components/form.ts'
import { duration } from '../../components/time.ts'
import type { DeveloperRequest } from '../../request/portal-request.ts'

/** The buttons beside the title: what an administrator decides. */
export function decisions(
  request: DeveloperRequest,
  client: RegisteredClient,
  from = '',
): SafeHtml | undefined {
  const { status, requested, name } = client.application
  if (!request.developer.administrator) return undefined
  if (status !== 'approved') {
    return decide(request, client, { decision: 'approve', label: 'Approve', object: name, from })
  }
  if (!requested) return undefined
  const approve = { decision: 'approve', label: 'Approve changes', object: `to ${name}`, from }
  const decline = {
    decision: 'decline',
    label: 'Decline',
    object: `changes to ${name}`,
    style: 'outline',
    from,
  }
  return html`${decide(request, client, approve)} ${decide(request, client, decline)}`
}

interface Decision {
  readonly decision: string
  readonly label: string
  /** Completes the label for screen readers. */
  readonly object: string
  readonly style?: string
  readonly from: string
}

function decide(
  { paths, csrfToken }: DeveloperRequest,
  { application, project }: RegisteredClient,
  { decision, label, object, style = '', from }: Decision,
): SafeHtml {
  return html`<form method="post" action="${paths.approval(project.id, application.id)}">
    ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="${decision}" />
    <input type="hidden" name="revision" value="${application.revision}" />
    <input type="hidden" name="from" value="${from}" />
    <button class="${style}">${label}<span class="visually-hidden"> ${object}</span></button>
  </form>`
}

export function requestedText({ products, lifetimeSeconds }: Approval): string {
  return `${products.join(', ') || 'no products'}; token lifetime ${duration(lifetimeSeconds)}`
}
