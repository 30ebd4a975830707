import { html, type SafeHtml } from '@remix-run/html-template'
import type { Project, RegisteredClient } from '../../applications/application.ts'
import type { DeveloperExchange } from '../exchange.ts'
import { clientSummary } from '../page/client-summary.ts'
import { field, formToken, mistakeSummary, type FormState } from '../page/form.ts'
import { page } from '../page/page.ts'
import type { Paths } from '../paths.ts'

export interface ProjectWithClients {
  readonly project: Project
  readonly clients: readonly RegisteredClient[]
}

export function projectsPage(exchange: DeveloperExchange, projects: readonly ProjectWithClients[]): SafeHtml {
  const { paths } = exchange
  const body = html` <p class="lead">
      A project holds the client IDs and client secrets for all APIs its applications call.
    </p>
    ${
      projects.length === 0
        ? html`<div class="notice">
            <p>
              You have no project yet. Make one, then an application in it: that gives you a client ID and a
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
  return page(exchange, { title: 'Projects', body })
}

export function projectPage(exchange: DeveloperExchange, each: ProjectWithClients): SafeHtml {
  const { paths } = exchange
  const body = html` ${aboutProject(each.project)}
    <section aria-labelledby="applications">
      <h2 id="applications">Client IDs and secrets for all APIs</h2>
      <div class="card">${clientList(each, paths)}</div>
    </section>
    <p><a class="button" href="${paths.newApplication(each.project.id)}">New application</a></p>`
  return page(exchange, { title: each.project.name, body, trail: [['Projects', paths.projects]] })
}

export function newProjectPage(exchange: DeveloperExchange, state: FormState): SafeHtml {
  const { paths, visit } = exchange
  const body = html`<div class="narrow">
    ${mistakeSummary(state)}
    <form method="post" action="${paths.newProject}" class="card">
      ${formToken(visit)} ${field({ name: 'name', label: 'Name of the project' }, state)}
      ${field({ name: 'organization_name', label: 'Organisation', autocomplete: 'organization', hint: 'Token responses name it.' }, state)}
      ${field({ name: 'developer_email', label: 'Developer’s e-mail', type: 'email', autocomplete: 'email', hint: 'Token responses name it, too.' }, state)}
      <button>Create the project</button>
    </form>
  </div>`
  return page(exchange, { title: 'New project', body, trail: [['Projects', paths.projects]] })
}

function aboutProject({ organizationName, developerEmail }: Project): SafeHtml {
  return html`<p class="hint">${organizationName} · ${developerEmail}</p>`
}

function clientList({ clients }: ProjectWithClients, paths: Paths): SafeHtml {
  return clients.length === 0
    ? html`<p>No application yet.</p>`
    : html`<ul class="rows">
        ${clients.map((client) => clientSummary(client, paths))}
      </ul>`
}
