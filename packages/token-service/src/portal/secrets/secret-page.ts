import { html, type SafeHtml } from '@remix-run/html-template'
import type { Application, Project } from '../../storage/application.ts'
import { newSecret } from './new-secret.ts'
import { page } from '../layout/page.ts'
import { tokenSnippets } from '../snippets/client-snippets.ts'
import { snippetTabs } from '../snippets/snippet-tabs.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface SecretContent {
  readonly application: Application
  readonly project: Project
  readonly clientSecret: string
  /** What happens to the existing secrets; `undefined` if none was valid. */
  readonly existingSecrets?: string | undefined
}

/** The only page that shows the secret of an application. */
export function secretPage(
  request: DeveloperRequest,
  { application, project, clientSecret, existingSecrets }: SecretContent,
): SafeHtml {
  const { paths, baseUrl } = request
  const { clientId, status, name } = application
  const client = { baseUrl, clientId, clientSecret }
  const body = html`${newSecret(client, existingSecrets)}
    <section class="card" aria-labelledby="try">
      <h2 id="try">${existingSecrets === undefined ? 'Request a token' : 'Try the new secret'}</h2>
      ${
        status === 'approved'
          ? html`<p>The snippets contain the client ID and the secret.</p>`
          : html`<p>
              The application can get tokens after an administrator has approved it. Copy the snippet now,
              because the secret is not shown again.
            </p>`
      }
      ${snippetTabs(tokenSnippets(client))}
    </section>
    <p class="bar">
      <a class="button" href="${paths.application(project.id, application.id)}"
        >Continue to the application</a
      >
      <a href="${paths.reference}">API reference</a>
    </p>`
  const title = existingSecrets === undefined ? `Secret for ${name}` : `New secret for ${name}`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
    [name, paths.application(project.id, application.id)],
  ] as const
  return page(request, { title, body, trail })
}
