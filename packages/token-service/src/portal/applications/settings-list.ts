import { html, type SafeHtml } from '@remix-run/html-template'
import type { Application, ApplicationSettings } from '../../storage/application.ts'
import { duration, time } from '../layout/time.ts'

const responseForms = {
  products: 'with API products',
  refresh: 'with the level and an empty refresh token',
  rfc6749: 'as in RFC 6749',
}

/** The settings of an application. */
export function settingsList(application: Application): SafeHtml {
  const { products, scopes, level, responseForm, lifetimeSeconds, createdAtMs } = application
  const { tokenFormat, audiences } = application
  // The name is the title of the page.
  const settings: Record<Exclude<keyof ApplicationSettings, 'name'>, readonly [string, string]> = {
    products: ['API products', products.join(', ') || 'none'],
    scopes: ['Scopes', scopes.join(' ') || 'none'],
    lifetimeSeconds: ['Token lifetime', duration(lifetimeSeconds)],
    tokenFormat: ['Token format', tokenFormat === 'jwt' ? 'JWT' : 'opaque'],
    audiences: ['Audiences', audiences.join(' ') || 'none'],
    responseForm: ['Token response', responseForms[responseForm]],
    level: ['Level', level || 'none'],
  }
  return html`<dl class="pairs">
    ${[...Object.values(settings), ['Created', time(createdAtMs)] as const].map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}
