import { html, type SafeHtml } from '@remix-run/html-template'
import type { Application, Project } from '../../applications/application.ts'
import type { DeveloperExchange } from '../exchange.ts'
import { copyable } from '../page/copyable.ts'
import { page } from '../page/page.ts'

export interface SecretContent {
  readonly application: Application
  readonly project: Project
  readonly clientSecret: string
  /** Of a new application, rather than one more. */
  readonly isFirst: boolean
}

/** The one page that shows a secret. */
export function secretPage(
  exchange: DeveloperExchange,
  { application, project, clientSecret, isFirst }: SecretContent,
): SafeHtml {
  const { paths } = exchange
  const { clientId, status, name } = application
  const body = html` <div class="notice good">
      <p>
        <strong>Copy the secret now.</strong> It is shown this once; only a hash of it is kept. Should you
        lose it, rotate it.
      </p>
    </div>
    <dl class="card pairs big">
      <div>
        <dt>Client ID</dt>
        <dd>${copyable({ id: 'client-id', value: clientId, what: 'client ID' })}</dd>
      </div>
      <div>
        <dt>Client secret</dt>
        <dd>${copyable({ id: 'client-secret', value: clientSecret, what: 'client secret' })}</dd>
      </div>
    </dl>
    ${
      status === 'approved'
        ? html`<p>Try them in the <a href="${paths.reference}">API reference</a>.</p>`
        : html`<p>The application gets tokens once the administrator has approved it.</p>`
    }
    <p><a class="button" href="${paths.application(project.id, application.id)}">I have copied it</a></p>`
  const title = isFirst ? `${name}: client ID and secret` : `${name}: new secret`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  return page(exchange, { title, body, trail })
}
