import { html, type SafeHtml } from '@remix-run/html-template'
import type { ListedProject } from '../../storage/listing-storage.ts'
import { badge } from '../applications/status-badge.ts'
import type { PageContent } from '../layout/page.ts'
import { formatCount, pages, searchField, type Paging } from '../layout/paging.ts'
import { absent, relativeTime } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface ProjectsContent {
  readonly projects: readonly ListedProject[]
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly paging: Paging
  readonly total: number
  readonly nowMs: number
}

export function projectsPage(request: DeveloperRequest, content: ProjectsContent): PageContent {
  const { paths } = request
  const { projects, paging, total } = content
  const { search } = paging
  const isEmpty = total === 0 && search === ''
  const body = html`${
    isEmpty
      ? html`<div class="card empty">
          <h2>No projects yet</h2>
          <p class="muted">
            A project contains applications, each with a client ID and secrets for the APIs that it calls.
          </p>
          <p><a class="button" href="${paths.start}">Get your first token</a></p>
        </div>`
      : html`<form method="get" action="${paths.projects}" class="filter" role="search">
            ${searchField(search, 'Search projects')}
            <button class="outline">Search</button>
            ${search === '' ? '' : html`<a class="button ghost" href="${paths.projects}">Clear</a>`}
          </form>
          ${projects.length === 0 ? html`<p class="muted">Nothing matches the search.</p>` : table(request, content)}`
  }
  ${pages({ path: paths.projects, query: { q: search }, paging, total, noun: 'projects' })}`
  const actions = html`<a class="button" href="${paths.newProject}">New project</a>`
  return { title: 'Projects', body, actions }
}

const shownOwners = 3

function table({ paths }: DeveloperRequest, { projects, owners, nowMs }: ProjectsContent): SafeHtml {
  return html`<table class="stacked">
    <thead>
      <tr>
        <th scope="col">Project</th>
        <th scope="col">Organisation</th>
        <th scope="col">Owners</th>
        <th scope="col" class="number">Applications</th>
        <th scope="col">Created</th>
      </tr>
    </thead>
    <tbody>
      ${projects.map(({ project, applications }) => {
        const names = owners.get(project.id) ?? []
        const more = names.length - shownOwners
        return html`<tr>
          <td data-label="Project">
            <a href="${paths.project(project.id)}">${project.name}</a>
            ${project.deletesAtMs === undefined ? '' : badge('deleted')}
          </td>
          <td data-label="Organisation">${project.organizationName || absent()}</td>
          <td data-label="Owners">
            ${names.slice(0, shownOwners).join(', ') || absent('no owner')}${more > 0 ? ` and ${more} more` : ''}
          </td>
          <td class="number" data-label="Applications">${formatCount(applications)}</td>
          <td data-label="Created">${relativeTime(project.createdAtMs, nowMs)}</td>
        </tr>`
      })}
    </tbody>
  </table>`
}
