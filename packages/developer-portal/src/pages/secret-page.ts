import { html, type SafeHtml } from '@remix-run/html-template'
import type { Application, Project } from '@tokenwell/token-service/plugin'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { copyable } from '../components/copyable.ts'
import { page } from '../components/page.ts'

export interface SecretContent {
  readonly application: Application
  readonly project: Project
  readonly clientSecret: string
  /** The first secret of a new application. */
  readonly isFirst: boolean
}

/** The only page that shows a secret. */
export function secretPage(
  request: DeveloperRequest,
  { application, project, clientSecret, isFirst }: SecretContent,
): SafeHtml {
  const { paths } = request
  const { clientId, status, name } = application
  const body = html` <div class="notice success">
      <p>
        <strong>Copy the secret now.</strong> It is not shown again, because only its hash is stored. If you
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
        : html`<p>The application gets tokens after an administrator has approved it.</p>`
    }
    <p>
      <a class="button" href="${paths.application(project.id, application.id)}"
        >Continue to the application</a
      >
    </p>`
  const title = isFirst ? `${name}: client ID and secret` : `${name}: new secret`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  return page(request, { title, body, trail })
}
