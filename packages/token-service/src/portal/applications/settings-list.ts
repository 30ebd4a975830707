import { html, type SafeHtml } from '@remix-run/html-template'
import type { Application } from '../../applications/application.ts'
import { duration, time } from '../layout/time.ts'

const responseForms = {
  products: 'with API products',
  refresh: 'with the level and an empty refresh token',
  rfc6749: 'as in RFC 6749',
}

/** The settings of an application. */
export function settingsList(application: Application): SafeHtml {
  const { products, level, responseForm, lifetimeSeconds, createdAtMs } = application
  const settings = [
    ['API products', products.join(', ') || 'none'],
    ['Token lifetime', duration(lifetimeSeconds)],
    ['Token response', responseForms[responseForm]],
    ['Level', level || 'none'],
    ['Created', time(createdAtMs)],
  ] as const
  return html`<dl class="pairs">
    ${settings.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}
