import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../applications/application.ts'
import { duration, time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

const responseForms = {
  products: 'with API products',
  refresh: 'with the level and an empty refresh token',
  rfc6749: 'as in RFC 6749',
}

export function settingsSection(
  { paths }: DeveloperRequest,
  { application, project }: RegisteredClient,
): SafeHtml {
  const { products, level, responseForm, lifetimeSeconds, createdAtMs, id } = application
  return html`<section class="card" aria-labelledby="settings">
    <div class="bar">
      <h2 id="settings">Settings</h2>
      <div class="actions">
        <a class="button outline" href="${paths.settings(project.id, id)}">Edit settings</a>
      </div>
    </div>
    <dl class="pairs">
      <div>
        <dt>API products</dt>
        <dd>${products.length === 0 ? 'none' : products.join(', ')}</dd>
      </div>
      <div>
        <dt>Token lifetime</dt>
        <dd>${duration(lifetimeSeconds)}</dd>
      </div>
      <div>
        <dt>Token response</dt>
        <dd>${responseForms[responseForm]}</dd>
      </div>
      <div>
        <dt>Level</dt>
        <dd>${level === '' ? 'none' : level}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>${time(createdAtMs)}</dd>
      </div>
    </dl>
  </section>`
}
