import { html } from '@remix-run/html-template'
import type { Answer } from '../exchange.ts'
import { page, type Viewer } from '../page/page.ts'
import type { PortalRefusalReason } from '../portal-refusal.ts'

export type Refusal = PortalRefusalReason | 'internal' | 'unavailable'

interface Words {
  readonly status: number
  readonly title: string
  readonly text: string
}

const words: Record<Refusal, Words> = {
  bad_form: {
    status: 400,
    title: 'This request makes no sense',
    text: 'Go back, load the page again, and try once more.',
  },
  form_not_ours: {
    status: 403,
    title: 'This form is out of date',
    text: 'It does not belong to your present visit; nothing was changed. Go back, load the page again, and send it once more. Cookies must be allowed for this site.',
  },
  not_allowed: {
    status: 403,
    title: 'Not yours to do',
    text: 'Only the administrator of this service can do this.',
  },
  not_found: {
    status: 404,
    title: 'Nothing here',
    text: 'There is no such page, or it is not yours to see.',
  },
  link_void: {
    status: 410,
    title: 'This link is no longer good',
    text: 'It works once, and for 15 minutes. Ask the administrator for a new one; the administrator’s own the service makes at its start.',
  },
  too_many_secrets: {
    status: 409,
    title: 'Too many secrets',
    text: 'An application can have ten at a time. Revoke one that nobody uses any more, then rotate again.',
  },
  busy: { status: 503, title: 'Busy', text: 'Many people log in right now. Try again in a few seconds.' },
  unavailable: {
    status: 503,
    title: 'Not available',
    text: 'The service cannot reach its storage right now. Try again in a moment.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong',
    text: 'This is the fault of the service; its log says more.',
  },
}

export function refusalPage(refusal: Refusal, viewer: Viewer): Answer {
  const { status, title, text } = words[refusal]
  const body = html`<p class="lead">${text}</p>
    <p><a href="${viewer.paths.root}">To the portal</a></p>`
  const retryAfterSeconds = status === 503 ? 5 : undefined
  return { page: page(viewer, { title, body }), status, retryAfterSeconds }
}
