import { html } from '@remix-run/html-template'
import type { Viewer } from './page.ts'
import { portalErrors, type PortalErrorReason } from '../portal-error.ts'
import type { PortalResponse } from '../page-routes.ts'

/** @param sentence what was wrong, if it is known better than by the reason */
export function errorPage(reason: PortalErrorReason, viewer: Viewer, sentence?: string): PortalResponse {
  const { status, title, text } = portalErrors[reason]
  const body = html`<div class="card">
    <p>${sentence ?? text}</p>
    <p><a class="button" href="${viewer.paths.root}">Back to the portal</a></p>
  </div>`
  const retryAfterSeconds = status === 503 ? 5 : undefined
  return {
    page: { title, body, isCard: viewer.developer === undefined },
    status,
    retryAfterSeconds,
  }
}
