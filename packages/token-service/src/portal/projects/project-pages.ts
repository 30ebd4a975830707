import { html, type SafeHtml } from '@remix-run/html-template'
import type { Project, RegisteredClient } from '../../applications/application.ts'
import { copyable } from '../layout/copyable.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { lastUse, type LastUses } from '../layout/last-use.ts'
import { page } from '../layout/page.ts'
import { badge, statusBadge } from '../applications/status-badge.ts'
import { time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { dangerRows } from '../layout/danger-rows.ts'
import { owners, type OwnersContent } from './project-owners.ts'

export interface LastUsesContent {
  readonly lastUses: LastUses
  readonly nowMs: number
}

export interface ProjectWithClients {
  readonly project: Project
  readonly clients: readonly RegisteredClient[]
}

export interface ProjectContent extends ProjectWithClients, LastUsesContent, OwnersContent {}

export function projectsPage(
  request: DeveloperRequest,
  projects: readonly ProjectWithClients[],
  content: LastUsesContent,
): SafeHtml {
  const { paths } = request
  const body =
    projects.length === 0
      ? html`<div class="card empty">
          <h2>No projects yet</h2>
          <p class="muted">
            A project contains applications, each with a client ID and secrets for the APIs that it calls.
          </p>
          <p><a class="button" href="${paths.start}">Get your first token</a></p>
        </div>`
      : html`${projects.map(
          (each) =>
            html`<section class="card" aria-labelledby="project-${each.project.id}">
              <div class="bar">
                <h2 id="project-${each.project.id}">
                  <a href="${paths.project(each.project.id)}">${each.project.name}</a>
                </h2>
                ${each.project.deletesAtMs === undefined ? '' : badge('deleted')}
                <p class="muted actions">${about(each.project)}</p>
              </div>
              ${clientTable(request, each, content)}
            </section>`,
        )}`
  const actions = html`<a class="button" href="${paths.newProject}">New project</a>`
  return page(request, { title: 'Projects', body, actions })
}

export function projectPage(request: DeveloperRequest, content: ProjectContent): SafeHtml {
  const { paths } = request
  const { project } = content
  const title = { title: project.name, trail: [['Projects', paths.projects]] as const }
  if (project.deletesAtMs !== undefined) {
    const body = deletedNotice(request, project, project.deletesAtMs)
    return page(request, { ...title, badge: badge('deleted'), body })
  }
  const body = html`<p class="muted">${about(project)}</p>
    <section class="card" aria-labelledby="applications">
      <h2 id="applications">Applications</h2>
      ${clientTable(request, content, content)}
    </section>
    ${owners(request, content)}
    <section class="card" aria-labelledby="more">
      <h2 id="more">Delete</h2>
      ${dangerRows([deletion(request, content)])}
    </section>`
  const actions = html`<a class="button outline" href="${paths.projectSettings(project.id)}">Edit project</a>
    <a class="button" href="${paths.newApplication(project.id)}">New application</a>`
  return page(request, { ...title, actions, body })
}

export function newProjectPage(request: DeveloperRequest, state: FormState): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<form method="post" action="${paths.newProject}" class="card form">
    ${csrfInput(csrfToken)} ${projectFields(state)}
    <button>Create project</button>
  </form>`
  return page(request, { title: 'New project', body, trail: [['Projects', paths.projects]] })
}

export function projectSettingsPage(request: DeveloperRequest, project: Project, state: FormState): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<form method="post" action="${paths.projectSettings(project.id)}" class="card form">
    ${csrfInput(csrfToken)} ${projectFields(state)}
    <button>Save</button>
  </form>`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  return page(request, { title: 'Edit project', body, trail })
}

function projectFields(state: FormState): SafeHtml {
  const hint = 'Included in token responses, except in the RFC 6749 format. You can add it later.'
  return html`${field({ name: 'name', label: 'Project name' }, state)}
  ${field({ name: 'organization_name', label: 'Organisation', autocomplete: 'organization', hint, required: false }, state)}
  ${field({ name: 'developer_email', label: 'Developer email', type: 'email', autocomplete: 'email', hint, required: false }, state)}`
}

function about({ organizationName, developerEmail }: Project): string {
  return [organizationName, developerEmail].filter((text) => text !== '').join(' · ')
}

function clientTable(
  { paths }: DeveloperRequest,
  { clients }: ProjectWithClients,
  { lastUses, nowMs }: LastUsesContent,
): SafeHtml {
  if (clients.length === 0) return html`<p class="muted">No applications yet.</p>`
  return html`<table class="stacked">
    <thead>
      <tr>
        <th scope="col">Application</th>
        <th scope="col">Status</th>
        <th scope="col">Client ID</th>
        <th scope="col">Last used</th>
      </tr>
    </thead>
    <tbody>
      ${clients.map((client) => {
        const { id, name, clientId } = client.application
        return html`<tr>
          <td data-label="Application">
            <a href="${paths.application(client.project.id, id)}"><strong>${name}</strong></a>
          </td>
          <td data-label="Status">${statusBadge(client)}</td>
          <td data-label="Client ID">
            ${copyable({ id: `client-id-${id}`, value: clientId, what: `client ID of ${name}` })}
          </td>
          <td data-label="Last used">${lastUse(id, lastUses, nowMs)}</td>
        </tr>`
      })}
    </tbody>
  </table>`
}

function deletion({ paths, csrfToken }: DeveloperRequest, { project, clients }: ProjectContent) {
  const count = clients.length === 1 ? '1 application' : `${clients.length} applications`
  const effect = html`<strong>${count}</strong> can no longer get tokens, and all existing tokens become
    invalid at once.`
  return {
    title: 'Delete the project',
    text: 'Its applications can no longer get tokens. You can restore the project within 30 days.',
    button: dialog({
      id: 'delete-project',
      label: 'Delete project',
      title: `Delete ${project.name}?`,
      body: html`<input type="hidden" name="decision" value="delete" />
        <p>
          ${clients.length === 0 ? '' : effect} The project can be restored with its applications within 30
          days; after that, it is permanently deleted.
        </p>`,
      action: paths.projectDeletion(project.id),
      confirm: 'Delete project',
      csrfToken,
      danger: true,
    }),
  }
}

function deletedNotice(
  { paths, csrfToken }: DeveloperRequest,
  { id }: Project,
  deletesAtMs: number,
): SafeHtml {
  return html`<div class="notice" data-variant="danger">
    <p>
      The project was deleted, and its applications cannot get tokens. It can be restored until
      ${time(deletesAtMs)}.
    </p>
    <form method="post" action="${paths.projectDeletion(id)}">
      ${csrfInput(csrfToken)}<input type="hidden" name="decision" value="restore" />
      <button>Restore project</button>
    </form>
  </div>`
}
