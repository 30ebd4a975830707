import { type SafeHtml, html } from '@remix-run/html-template'
import {
  type CatalogueHints,
  applicationFormState,
  newApplication,
} from '../applications/application-form.ts'
import { scopePicker } from '../applications/scope-picker.ts'
import { newSecret } from '../credentials/secret-page.ts'
import { checkboxes, csrfInput, emptyForm, field } from '../../portal/layout/form.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { tokenSnippets } from '../../portal/layout/snippets.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import type { Project, RegisteredClient } from '../../storage/application.ts'

/** The progress of a developer towards the first token. */
export interface StartContent {
  readonly project?: Project | undefined
  readonly client?: RegisteredClient | undefined
  readonly hasToken: boolean
  readonly products: readonly string[]
  readonly scopes: readonly string[]
  readonly hints: CatalogueHints
  readonly submissionId: string
  /** Of the application that was just created, once. */
  readonly clientSecret?: string | undefined
}

export function startPage(request: DeveloperRequest, content: StartContent): PageContent {
  const { project, client, hasToken } = content
  const done = [project !== undefined, client !== undefined, hasToken]
  const current = done.indexOf(false)
  const lead = ['Three steps to your first access token.', 'Two steps to go.', 'One step to go.'][current]
  const body = html`<p class="lead" data-progress="lead">${lead ?? 'You have your first token.'}</p>
    <ol class="steps">
      ${[
        step('Create a project', projectStep(request, content)),
        step('Register an application', applicationStep(request, content)),
        step('Request a token', tokenStep(request, content)),
      ].map((toItem, index) => toItem(done[index] === true ? 'done' : index === current ? 'current' : ''))}
    </ol>
    <section data-progress="next">
      ${
        current === -1
          ? html`<h2>What to do next</h2>
              ${nextSteps(request, client)}`
          : ''
      }
    </section>`
  return { title: 'Get started', body, section: request.paths.start, scripts: ['start.js'] }
}

const step = (title: string, body: SafeHtml) => (state: 'done' | 'current' | '') =>
  html`<li class="card ${state}" ${state === 'current' ? html`aria-current="step"` : ''}>
    <h2>${title}${state === 'done' ? html`<span class="visually-hidden">: done</span>` : ''}</h2>
    ${body}
  </li>`

function projectStep({ paths, csrfToken }: DeveloperRequest, { project }: StartContent): SafeHtml {
  if (project) return html`<p><a href="${paths.project(project.id)}">${project.name}</a></p>`
  return html`<p class="muted">A project groups the applications of one team or system.</p>
    <form method="post" action="${paths.newProject}" class="form">
      ${csrfInput(csrfToken)}<input type="hidden" name="from" value="start" />
      <input type="hidden" name="organization_name" value="" /><input
        type="hidden"
        name="developer_email"
        value=""
      />
      ${field({ name: 'name', label: 'Project name' }, emptyForm)}
      <button>Create project</button>
    </form>`
}

/** The first application is as the form of a new one suggests, except for its name. */
const suggested = Object.entries(applicationFormState(newApplication).values).filter(
  ([name]) => name !== 'name',
)

function applicationStep(request: DeveloperRequest, content: StartContent): SafeHtml {
  const { paths, csrfToken, developer, baseUrl } = request
  const { project, client, products, scopes, hints, submissionId, clientSecret } = content
  if (client) {
    const { id, name, clientId } = client.application
    const path = paths.application(client.project.id, id)
    if (clientSecret === undefined) {
      return html`<p><a href="${path}">${name}</a>, client ID <code>${clientId}</code></p>`
    }
    return html`${newSecret({ baseUrl, clientId, clientSecret }, undefined)}
      <p><a href="${path}">Continue to the application</a></p>`
  }
  const text = 'Each program that calls APIs needs its own client ID and secret.'
  if (!project) return html`<p class="muted">${text}</p>`
  return html`<p class="muted">${text}</p>
    <form method="post" action="${paths.newApplication}" class="form">
      ${csrfInput(csrfToken)}<input type="hidden" name="submission_id" value="${submissionId}" />
      <input type="hidden" name="project" value="${project.id}" />
      <input type="hidden" name="from" value="start" />
      ${suggested.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      ${field({ name: 'name', label: 'Application name' }, emptyForm)}
      ${
        products.length === 0
          ? ''
          : checkboxes(
              { name: 'product', label: 'API products', choices: products, hints: hints.products },
              emptyForm,
            )
      }
      ${scopePicker({ scopes, entries: hints.scopes }, emptyForm)}
      ${developer.administrator ? '' : html`<p class="hint">The application can get tokens after an administrator has approved it.</p>`}
      <p class="finish"><button>Create application</button></p>
    </form>`
}

function tokenStep(
  { paths, baseUrl }: DeveloperRequest,
  { client, hasToken, clientSecret = 'YOUR_CLIENT_SECRET' }: StartContent,
): SafeHtml {
  if (!client) return html`<p class="muted">Your program exchanges its client ID and secret for a token.</p>`
  const { id, clientId, status } = client.application
  return html`${status === 'approved' ? '' : html`<p><strong>An administrator has to approve the application first.</strong></p>`}
  ${
    clientSecret === 'YOUR_CLIENT_SECRET'
      ? html`<p>
          Replace <code>YOUR_CLIENT_SECRET</code> with the secret that was shown to you. If you do not have
          it, create a new one with the
          <a href="${paths.credentials(client.project.id, id)}">application’s credentials</a>.
        </p>`
      : html`<p>The snippets contain the client ID and the secret.</p>`
  }
  ${tokenSnippets({ baseUrl, clientId, clientSecret })}
  ${
    hasToken
      ? html`<p data-progress="result">Your application has received its first token.</p>`
      : html`<p class="actions" data-progress="result">
          <span class="muted">Waiting for the first request.</span>
          <a class="button outline" href="${paths.start}" data-check>Check again</a>
        </p>`
  }`
}

function nextSteps({ paths }: DeveloperRequest, client: RegisteredClient | undefined): SafeHtml {
  return html`<ul class="grid">
    ${
      client
        ? html`<li class="card">
            <a href="${paths.application(client.project.id, client.application.id)}"
              >See the application’s token requests</a
            >
            <p class="muted">Usage, failures by reason and the latest requests of an application.</p>
          </li>`
        : ''
    }
    <li class="card">
      <a href="${paths.reference}">Try the API reference</a>
      <p class="muted">Send real requests, and see each response and error.</p>
    </li>
    <li class="card">
      <a href="${paths.projects}">Manage your projects</a>
      <p class="muted">Register more applications, and rotate their secrets without an outage.</p>
    </li>
  </ul>`
}
