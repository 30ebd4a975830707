import { html, type SafeHtml } from '@remix-run/html-template'
import type { Project, RegisteredClient } from '@tokenwell/token-service/plugin'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { clientSummary } from '../components/client-summary.ts'
import { field, csrfInput, errorSummary, type FormState } from '../components/form.ts'
import { page } from '../components/page.ts'
import type { Paths } from '../request/routes.ts'

export interface ProjectWithClients {
  readonly project: Project
  readonly clients: readonly RegisteredClient[]
}

export function projectsPage(request: DeveloperRequest, projects: readonly ProjectWithClients[]): SafeHtml {
  const { paths } = request
  const body = html` <p class="lead">
      A project contains applications, each with a client ID and client secrets for the APIs that it calls.
    </p>
    ${
      projects.length === 0
        ? html`<div class="notice">
            <p>
              You have no projects yet. Create a project, then an application in it, to get a client ID and a
              client secret.
            </p>
          </div>`
        : projects.map(
            (each) =>
              html`<section class="card" aria-labelledby="project-${each.project.id}">
                <h2 id="project-${each.project.id}">
                  <a href="${paths.project(each.project.id)}">${each.project.name}</a>
                </h2>
                ${aboutProject(each.project)} ${clientList(each, paths)}
              </section>`,
          )
    }
    <p><a class="button" href="${paths.newProject}">New project</a></p>`
  return page(request, { title: 'Projects', body })
}

export function projectPage(request: DeveloperRequest, each: ProjectWithClients): SafeHtml {
  const { paths } = request
  const body = html` ${aboutProject(each.project)}
    <section aria-labelledby="applications">
      <h2 id="applications">Applications</h2>
      <div class="card">${clientList(each, paths)}</div>
    </section>
    <p><a class="button" href="${paths.newApplication(each.project.id)}">New application</a></p>`
  return page(request, { title: each.project.name, body, trail: [['Projects', paths.projects]] })
}

export function newProjectPage(request: DeveloperRequest, state: FormState): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<div class="narrow">
    ${errorSummary(state)}
    <form method="post" action="${paths.newProject}" class="card">
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Project name' }, state)}
      ${field({ name: 'organization_name', label: 'Organization', autocomplete: 'organization', hint: 'Included in token responses.' }, state)}
      ${field({ name: 'developer_email', label: 'Developer e-mail', type: 'email', autocomplete: 'email', hint: 'Included in token responses.' }, state)}
      <button>Create project</button>
    </form>
  </div>`
  return page(request, { title: 'New project', body, trail: [['Projects', paths.projects]] })
}

function aboutProject({ organizationName, developerEmail }: Project): SafeHtml {
  return html`<p class="hint">${organizationName} · ${developerEmail}</p>`
}

function clientList({ clients }: ProjectWithClients, paths: Paths): SafeHtml {
  return clients.length === 0
    ? html`<p>No applications yet.</p>`
    : html`<ul class="rows">
        ${clients.map((client) => clientSummary(client, paths))}
      </ul>`
}
