import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../storage/application.ts'
import { csrfInput, emptyForm, textArea, type FormState } from '../layout/form.ts'
import { page } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { requestedText } from './approval-buttons.ts'

export interface DeclineContent {
  readonly client: RegisteredClient
  /** `approvals`: the administrator continues at the queue, otherwise at the application. */
  readonly from: string
  readonly state?: FormState
}

/** Asks why a request is declined. */
export function declinePage(
  request: DeveloperRequest,
  { client: { application, project }, from, state = emptyForm }: DeclineContent,
): SafeHtml {
  const { paths, csrfToken } = request
  const { id, name, revision, requested, review } = application
  const cancel = from === 'approvals' ? paths.approvals : paths.application(project.id, id)
  const reason = {
    name: 'reason',
    label: 'Reason',
    hint: 'The owners of the application see it.',
    required: false,
    rows: 3,
  }
  const body = html`<form method="post" action="${paths.approval(project.id, id)}" class="card form">
    ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="decline" />
    <input type="hidden" name="revision" value="${revision}" />
    <input type="hidden" name="from" value="${from}" />
    ${requested ? html`<p><strong>Requested:</strong> ${requestedText(requested, application)}.</p>` : ''}
    ${review?.note === undefined ? '' : html`<p class="lines"><strong>Note:</strong> ${review.note}</p>`}
    ${textArea(reason, state)}
    <p class="bar"><button>Decline</button> <a class="button outline" href="${cancel}">Cancel</a></p>
  </form>`
  const trail = [
    ['Approvals', paths.approvals],
    [name, paths.application(project.id, id)],
  ] as const
  return page(request, { title: requested ? 'Decline the changes' : 'Decline the application', body, trail })
}
