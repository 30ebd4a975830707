import { type SafeHtml, html } from '@remix-run/html-template'
import { code, copyButton, copyable } from '../../portal/layout/copyable.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { type ClientOfService, environmentFile, tokenSnippets } from '../../portal/layout/snippets.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import type { Application, Project } from '../../storage/application.ts'

interface SecretContent {
  readonly application: Application
  readonly project: Project
  readonly clientSecret: string
  /** What happens to the existing secrets; `undefined` if none was valid. */
  readonly existingSecrets?: string | undefined
}

/** Shows the secret of an application, once. */
export function secretPage(
  request: DeveloperRequest,
  { application, project, clientSecret, existingSecrets }: SecretContent,
): PageContent {
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
      ${tokenSnippets(client)}
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
  return { title, body, trail }
}

/** Shows a new secret, once; `existingSecrets`: what happens to them; `prefix`: of the names in the environment. */
export function newSecret(
  client: ClientOfService,
  existingSecrets: string | undefined,
  prefix?: string,
): SafeHtml {
  return html`<section class="notice" data-variant="warning" aria-labelledby="secret">
    <h2 id="secret">Copy the secret now</h2>
    <p>It is not shown again, because only its hash is stored. If you lose it, create a new one.</p>
    <dl class="pairs credentials">
      <div>
        <dt>Client ID</dt>
        <dd>${copyable({ id: 'client-id', value: client.clientId, what: 'client ID' })}</dd>
      </div>
      <div>
        <dt>Client secret</dt>
        <dd>${copyable({ id: 'client-secret', value: client.clientSecret, what: 'client secret' })}</dd>
      </div>
    </dl>
    <div class="bar">
      <h3>.env</h3>
      <div class="actions">${copyButton('environment', 'Copy as .env')}</div>
    </div>
    ${code(environmentFile(client, prefix), 'plaintext', 'Environment', 'environment')}
    ${existingSecrets === undefined ? '' : html`<p>${existingSecrets}</p>`}
  </section>`
}
