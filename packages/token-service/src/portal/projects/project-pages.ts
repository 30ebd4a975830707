import { html, type SafeHtml } from '@remix-run/html-template'
import type { Project } from '../../storage/application.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import { endsForOthers } from '../applications/application-form-pages.ts'
import { applicationColumns, type ApplicationTableContent } from '../applications/application-table.ts'
import { list, type ListState } from '../layout/list.ts'
import { formatCount, linkTo } from '../layout/paging.ts'
import { badge } from '../applications/status-badge.ts'
import { time } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { dangerSection } from '../layout/menus.ts'
import { owners, type OwnersContent } from './project-owners.ts'

export interface ProjectContent extends ApplicationTableContent, OwnersContent {
  readonly project: Project
  readonly state: ListState
  /** How many applications it has. */
  readonly total: number
}

export function projectPage(request: DeveloperRequest, content: ProjectContent): PageContent {
  const { paths } = request
  const { project, state, total } = content
  const title = { title: project.name, trail: [['Projects', paths.projects]] as const }
  if (project.deletesAtMs !== undefined) {
    const body = deletedNotice(request, project, project.deletesAtMs)
    return { ...title, badge: badge('deleted'), body }
  }
  const about = aboutProject(project)
  const body = html`${about === '' ? '' : html`<p class="lead">${about}</p>`}
    <section aria-labelledby="applications">
      <h2 id="applications">Applications</h2>
      ${list(applicationColumns(request, content, { project: false }), content.clients, {
        label: 'Applications',
        browsing: { path: paths.project(project.id), state, total, noun: 'applications' },
        empty: html`<p class="muted">No applications yet.</p>`,
      })}
    </section>
    ${owners(request, content)} ${dangerSection('Delete', [deletion(request, content)])}`
  const actions = html`<a class="button outline" href="${paths.projectSettings(project.id)}">Edit project</a>
    <a class="button" href="${linkTo(paths.newApplication, { project: project.id })}">New application</a>`
  return { ...title, actions, body }
}

export function newProjectPage(request: DeveloperRequest, state: FormState): PageContent {
  const { paths, csrfToken } = request
  const body = html`<form method="post" action="${paths.newProject}" class="card form">
    ${csrfInput(csrfToken)} ${projectFields(state)}
    <p class="hint">You can add the organisation and the email later.</p>
    <button>Create project</button>
  </form>`
  return { title: 'New project', body, trail: [['Projects', paths.projects]] }
}

export function projectSettingsPage(
  request: DeveloperRequest,
  project: Project,
  state: FormState,
): PageContent {
  const { paths, csrfToken } = request
  const body = html`<form method="post" action="${paths.projectSettings(project.id)}" class="card form">
    ${csrfInput(csrfToken)} ${projectFields(state)}
    <button>Save</button>
  </form>`
  const trail = [
    ['Projects', paths.projects],
    [project.name, paths.project(project.id)],
  ] as const
  return { title: 'Edit project', body, trail }
}

function projectFields(state: FormState): SafeHtml {
  const hint = 'Token responses include the organisation and the email, except in the RFC 6749 format.'
  return html`${field({ name: 'name', label: 'Project name' }, state)}
  ${field({ name: 'organization_name', label: 'Organisation', autocomplete: 'organization', hint, required: false }, state)}
  ${field({ name: 'developer_email', label: 'Developer email', type: 'email', autocomplete: 'email', required: false }, state)}`
}

function aboutProject({ organizationName, developerEmail }: Project): string {
  return [
    organizationName && `Organisation: ${organizationName}`,
    developerEmail && `Email: ${developerEmail}`,
  ]
    .filter((text) => text !== '')
    .join(' · ')
}

function deletion({ paths, csrfToken, developer }: DeveloperRequest, { project, total }: ProjectContent) {
  const count = total === 1 ? '1 application' : `${formatCount(total)} applications`
  const effect = html`<strong>${count}</strong> can no longer get tokens, and all existing tokens become
    invalid at once.`
  return {
    title: 'Delete the project',
    text: 'Its applications can no longer get tokens. You can restore the project within 30 days.',
    button: dialog({
      id: 'delete-project',
      label: html`Delete<span class="visually-hidden"> project</span>`,
      title: `Delete ${project.name}?`,
      body: html`<input type="hidden" name="decision" value="delete" />
        <p>
          ${total === 0 ? '' : effect} The project can be restored with its applications within 30 days; after
          that, it is permanently deleted. ${developer.administrator ? endsForOthers : ''}
        </p>`,
      action: paths.projectDeletion(project.id),
      confirm: 'Delete project',
      csrfToken,
      danger: true,
    }),
  }
}

function deletedNotice(
  { paths, csrfToken, developer }: DeveloperRequest,
  { id, deletedBy }: Project,
  deletesAtMs: number,
): SafeHtml {
  if (deletedBy === 'administrator' && !developer.administrator)
    return html`<div class="notice" data-variant="danger">
      <p>
        An administrator deleted the project, and its applications cannot get tokens. Only an administrator
        can restore it, until ${time(deletesAtMs)}.
      </p>
    </div>`
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
