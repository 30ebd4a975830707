import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import {
  addOwner,
  changeProject,
  projectRevision,
  createProject,
  deleteProject,
  type ProjectDetails,
  ProjectNameTaken,
  removeOwner,
  restoreProject,
} from './acts.ts'
import type { Developer } from '../../storage/developer.ts'
import { developerStorage } from '../people/storage.ts'
import type { ListPage, ListedProject } from '../search/listings.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import {
  type ApplicationTableContent,
  applicationColumns,
  applicationOrders,
  listApplications,
} from '../applications/application-table.ts'
import { badge } from '../applications/status-badge.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import { picker, type PickerOptions } from '../../portal/layout/picker.ts'
import { pickerOf, readChoice } from '../search/choices.ts'
import {
  type FormState,
  csrfInput,
  emptyForm,
  field,
  revisionInput,
  seenRevision,
  withSeenRevision,
} from '../../portal/layout/form.ts'
import { type Column, type ListState, list, listState, named, names } from '../../portal/layout/list.ts'
import { dangerSection, endsForOthers, pageTabs } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { formatCount, linkTo } from '../../portal/layout/paging.ts'
import { type ParsedForm, deletionForm, parseForm } from '../../portal/layout/parse-form.ts'
import { line, optionalLine, projectName } from '../../runtime/bounds.ts'
import { absent, relativeTime, time } from '../../portal/layout/time.ts'
import { administratorPages, developerPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { ownProject, ownerIdOf } from './own-projects.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { actorOf } from '../sessions/session.ts'
import type { Project } from '../../storage/application.ts'

const maxProjects = 50

const ownersForm = z.union([z.object({ add: z.string() }), z.object({ remove: z.string() })])

export async function projectPages(portal: FastifyInstance, service: PortalService): Promise<void> {
  const { get, post } = developerPages(portal)
  const { post: postByAdministrator } = administratorPages(portal)
  const { storage, perform, clock } = service
  const { developers } = storage

  get(patterns.projects, async (request) => {
    const state = listState(request.query, { orders: projectOrders })
    const { search, order, limit, offset } = state
    const ownerId = ownerIdOf(request)
    const found = await storage.listings.projects({ search, order, limit, offset, ownerId })
    const owners = await storage.listings.owners(found.items.map(({ project }) => project.id))
    return { page: projectsPage(request, { ...found, owners, state, nowMs: clock.now() }) }
  })

  get(patterns.project, async (request) => {
    const project = await ownProject(storage, request)
    const state = listState(request.query, { orders: applicationOrders })
    const { order, limit, offset } = state
    const list = await listApplications(service, { projectId: project.id, order, limit, offset })
    return { page: projectPage(request, { ...list, project, state }) }
  })

  /** The owners, and for administrators the form that adds one. */
  async function readOwners(request: DeveloperRequest, project: Project, state = emptyForm) {
    const owners = await developers.owners(project.id)
    const add = request.developer.administrator
      ? await pickerOf(storage, request, 'people', state.values['add'])
      : undefined
    return ownersPage(request, { project, owners, add, state })
  }

  get(patterns.owners, async (request) => ({
    page: await readOwners(request, await ownProject(storage, request)),
  }))

  get(patterns.newProject, async (request) => ({ page: newProjectPage(request, emptyForm) }))

  post(patterns.newProject, async (request) => {
    const { developer, paths, form } = request
    const parsed = parseProjectForm(form)
    if (!parsed.data) return { page: newProjectPage(request, parsed.state), status: 422 }
    const { id, administrator } = developer
    try {
      const project = await perform(actorOf(request), async (act) => {
        if (!administrator && (await developerStorage(act).projectIds(id)).length >= maxProjects)
          throw new PortalError('too_many_projects')
        return createProject(act, parsed.data, id)
      })
      const redirectTo = form['from'] === 'start' ? paths.start : paths.project(project.id)
      return { redirectTo, notice: 'project_created' }
    } catch (error) {
      return { page: newProjectPage(request, nameTaken(error, parsed.data)), status: 422 }
    }
  })

  async function readSettings(request: DeveloperRequest, project: Project, state: FormState) {
    const { total } = await storage.listings.applications({ projectId: project.id, limit: 0, offset: 0 })
    return projectSettingsPage(request, { project, total, state })
  }

  get(patterns.projectSettings, async (request) => {
    const project = await ownProject(storage, request)
    return { page: await readSettings(request, project, projectFormState(project)) }
  })

  post(patterns.projectSettings, async (request) => {
    const project = await ownProject(storage, request)
    const parsed = parseProjectForm(request.form)
    const again = async (state: FormState) => ({
      page: await readSettings(request, project, withSeenRevision(state, request.form)),
      status: 422,
    })
    if (!parsed.data) return again(parsed.state)
    const { administrator } = request.developer
    const seen = seenRevision(request.form)
    try {
      await perform(actorOf(request), (act) => changeProject(act, project, parsed.data, administrator, seen))
      return { redirectTo: request.paths.project(project.id), notice: 'project_changed' }
    } catch (error) {
      return again(nameTaken(error, parsed.data))
    }
  })

  post(patterns.projectDeletion, async (request) => {
    const project = await ownProject(storage, request)
    const { data } = deletionForm.safeParse(request.form)
    if (!data) throw new PortalError('invalid_form')
    const by = actorOf(request)
    const { administrator } = request.developer
    const redirectTo = request.paths.project(project.id)
    if (data.decision === 'restore') {
      await perform(by, (act) => restoreProject(act, project, administrator))
      return { redirectTo, notice: 'project_restored' }
    }
    await perform(by, (act) => deleteProject(act, project, administrator))
    return { redirectTo, notice: 'project_deleted' }
  })

  postByAdministrator(patterns.owners, async (request) => {
    const project = await ownProject(storage, request)
    const { data } = ownersForm.safeParse(request.form)
    if (!data) throw new PortalError('invalid_form')
    const isAdded = 'add' in data
    const choice = await readChoice(storage, request, 'people', isAdded ? data.add : data.remove)
    if ('error' in choice) {
      const state = { values: { add: isAdded ? data.add : '' }, errors: { add: choice.error } }
      return { page: await readOwners(request, project, state), status: 422 }
    }
    await perform(actorOf(request), (act) =>
      (isAdded ? addOwner : removeOwner)(act, project, { id: choice.id, name: choice.text }),
    )
    const notice = isAdded ? 'owner_added' : 'owner_removed'
    return { redirectTo: request.paths.owners(project.id), notice }
  })
}

const email = z.email('Enter an email address, such as ada@example.com.')
const projectForm = z.object({
  name: projectName,
  organization_name: optionalLine(200),
  developer_email: z.union([z.literal(''), line(200).pipe(email)]),
})

/** Organisation and email can be added later. */
function parseProjectForm(form: RawParameters): ParsedForm<ProjectDetails> {
  const parsed = parseForm(projectForm, form)
  if (!parsed.data) return parsed
  const { name, organization_name: organizationName, developer_email: developerEmail } = parsed.data
  return { data: { name, organizationName, developerEmail } }
}

/** The form with the error that says so. */
function nameTaken(error: unknown, details: ProjectDetails): FormState {
  if (!(error instanceof ProjectNameTaken)) throw error
  return { ...projectFormState(details), errors: { name: 'Another project has this name.' } }
}

/** The form's values for an existing project. */
function projectFormState({ name, organizationName, developerEmail }: ProjectDetails): FormState {
  return {
    values: { name, organization_name: organizationName, developer_email: developerEmail },
    errors: {},
  }
}

const projectOrders = ['name', '-name', '-created', 'created'] as const

interface ProjectsContent extends ListPage<ListedProject> {
  readonly owners: ReadonlyMap<string, readonly string[]>
  readonly state: ListState
  readonly nowMs: number
}

function projectsPage(request: DeveloperRequest, content: ProjectsContent): PageContent {
  const { paths } = request
  const { items, total, state } = content
  const body = list(columns(request, content), items, {
    label: 'Projects',
    browsing: {
      path: paths.projects,
      state,
      total,
      noun: 'projects',
      search: 'Name or organisation',
      orders: [
        ['name', 'Name'],
        ['-created', 'Created'],
      ],
    },
    empty: html`<div class="empty">
      <h2>No projects yet</h2>
      <p class="muted">
        A project contains applications, each with a client ID and secrets for the APIs that it calls.
      </p>
      <p><a class="button" href="${paths.start}">Get your first token</a></p>
    </div>`,
  })
  const actions = html`<a class="button" href="${paths.newProject}">New project</a>`
  return { title: 'Projects', body, actions }
}

function columns(
  { paths }: DeveloperRequest,
  { owners, nowMs }: ProjectsContent,
): readonly Column<ListedProject>[] {
  return [
    {
      label: 'Project',
      kind: 'name',
      order: 'name',
      cell: ({ project: { id, name, organizationName, deletesAtMs } }) =>
        named({
          name,
          href: paths.project(id),
          below: deletesAtMs === undefined ? organizationName : 'Deleted',
        }),
    },
    {
      label: 'Owners',
      kind: 'text',
      leaves: 1,
      cell: ({ project }) => {
        const all = owners.get(project.id) ?? []
        return all.length === 0 ? absent('no owner') : names(all)
      },
    },
    { label: 'Applications', kind: 'number', cell: ({ applications }) => formatCount(applications) },
    {
      label: 'Created',
      kind: 'time',
      leaves: 2,
      order: '-created',
      cell: ({ project }) => relativeTime(project.createdAtMs, nowMs),
    },
  ]
}

const projectTabs = [
  ['project', 'Applications'],
  ['owners', 'Owners'],
  ['projectSettings', 'Settings'],
] as const

/** A page of a project: its name, and the tabs. One that is being deleted can only be restored. */
function projectFrame(
  request: DeveloperRequest,
  project: Project,
  tab: (typeof projectTabs)[number][0],
  body: SafeHtml,
): PageContent {
  const { paths } = request
  const title = {
    title: project.name,
    trail: [['Projects', paths.projects]] as const,
    section: paths.projects,
  }
  if (project.deletesAtMs !== undefined)
    return {
      ...title,
      badge: badge('deleted'),
      body: deletedNotice(request, project, project.deletesAtMs),
    }
  const about = aboutProject(project)
  return {
    ...title,
    actions: html`<a class="button" href="${linkTo(paths.newApplication, { project: project.id })}"
      >New application</a
    >`,
    body: html`${about === '' ? '' : html`<p class="lead">${about}</p>`}
    ${pageTabs(
      'Project',
      projectTabs.map(([name, label]) => ({
        label,
        href: paths[name](project.id),
        isCurrent: name === tab,
      })),
    )}
    ${body}`,
  }
}

interface ProjectContent extends ApplicationTableContent {
  readonly project: Project
  readonly state: ListState
  /** How many applications it has. */
  readonly total: number
}

function projectPage(request: DeveloperRequest, content: ProjectContent): PageContent {
  const { project, state, total } = content
  const body = list(applicationColumns(request, content, { project: false }), content.clients, {
    label: 'Applications',
    browsing: { path: request.paths.project(project.id), state, total, noun: 'applications' },
    empty: html`<p class="muted">No applications yet.</p>`,
  })
  return projectFrame(request, project, 'project', body)
}

function newProjectPage(request: DeveloperRequest, state: FormState): PageContent {
  const { paths, csrfToken } = request
  const body = html`<form method="post" action="${paths.newProject}" class="card form">
    ${csrfInput(csrfToken)} ${projectFields(state)}
    <p class="hint">You can add the organisation and the email later.</p>
    <button>Create project</button>
  </form>`
  return { title: 'New project', body, trail: [['Projects', paths.projects]] }
}

interface ProjectSettingsContent extends Pick<ProjectContent, 'project' | 'total'> {
  readonly state: FormState
}

function projectSettingsPage(request: DeveloperRequest, content: ProjectSettingsContent): PageContent {
  const { paths, csrfToken } = request
  const { project, state } = content
  const body = html`<form method="post" action="${paths.projectSettings(project.id)}" class="card form">
      ${csrfInput(csrfToken)} ${revisionInput(projectRevision(project), state)} ${projectFields(state)}
      <button>Save</button>
    </form>
    ${dangerSection('Delete', [deletion(request, content)])}`
  return projectFrame(request, project, 'projectSettings', body)
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

function deletion(
  { paths, csrfToken, developer }: DeveloperRequest,
  { project, total }: Pick<ProjectContent, 'project' | 'total'>,
) {
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

interface OwnersContent {
  readonly project: Project
  readonly owners: readonly Developer[]
  /** For administrators, to add one. */
  readonly add: Pick<PickerOptions, 'suggestions' | 'suggestionsFrom'> | undefined
  readonly state: FormState
}

/** Who owns a project; administrators can change it. */
function ownersPage(
  request: DeveloperRequest,
  { project, owners: all, add, state }: OwnersContent,
): PageContent {
  const { paths, csrfToken, developer } = request
  const action = paths.owners(project.id)
  const body = html`${
    all.length === 0
      ? html`<p class="muted">Only administrators have access.</p>`
      : html`<ul class="rows">
          ${all.map(
            ({ id, name }) =>
              html`<li class="bar">
                <p>${name}</p>
                ${
                  developer.administrator
                    ? html`<div class="actions">
                        ${dialog({
                          id: `remove-owner-${id}`,
                          label: html`Remove<span class="visually-hidden"> ${name}</span>`,
                          style: 'ghost small',
                          title: `Remove ${name} as an owner?`,
                          body: html`<input type="hidden" name="remove" value="${id}" />
                            <p>
                              ${name} can no longer see ${project.name}. Its applications continue to get
                              tokens.
                            </p>`,
                          action,
                          confirm: 'Remove owner',
                          csrfToken,
                          danger: true,
                        })}
                      </div>`
                    : ''
                }
              </li>`,
          )}
        </ul>`
  }
  ${
    add
      ? html`<form method="post" action="${action}" class="card form">
          <h2>Add an owner</h2>
          ${csrfInput(csrfToken)}
          ${picker({ ...add, name: 'add', label: 'Name', hint: 'An owner sees the project, registers applications and manages their secrets.' }, state)}
          <button>Add owner</button>
        </form>`
      : ''
  }`
  return projectFrame(request, project, 'owners', body)
}
