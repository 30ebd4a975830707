import { z } from 'zod'
import { ProjectNameTaken, type ProjectDetails } from '../../features/applications/acts.ts'
import type { projectRoutes } from './project-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { listApplications } from '../applications/application-table.ts'
import { applicationOrders } from '../applications/applications-page.ts'
import { listState } from '../layout/list.ts'
import { newProjectPage, projectPage, projectSettingsPage } from './project-pages.ts'
import { projectOrders, projectsPage } from './projects-page.ts'
import { actorOf, requireAdministrator } from '../session/session.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf } from '../portal-request.ts'
import { ownerIdOf, ownProject } from './own-projects.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { line, optionalLine, parseForm, type ParsedForm } from '../layout/parse-form.ts'

const maxProjects = 50
const offeredDevelopers = 200

/** Deletes something, or restores it while that is possible. */
export const deletionForm = z.object({ decision: z.enum(['delete', 'restore']) })
const ownersForm = z.union([z.object({ add: z.string() }), z.object({ remove: z.string() })])

export function projectHandlers(service: ServiceContext): HandlersOf<typeof projectRoutes> {
  const { storage, act, registryFor, clock } = service
  const { developers } = storage
  return {
    async showProjects(request) {
      const state = listState(request.query, { orders: projectOrders })
      const { search, order, limit, offset } = state
      const ownerId = ownerIdOf(request)
      const found = await storage.listings.projects({ search, order, limit, offset, ownerId })
      const owners = await storage.listings.owners(found.items.map(({ project }) => project.id))
      return { page: projectsPage(request, { ...found, owners, state, nowMs: clock.now() }) }
    },
    async showProject(request) {
      const project = await ownProject(storage, request)
      const state = listState(request.query, { orders: applicationOrders })
      const { order, limit, offset } = state
      const [list, all, names] = await Promise.all([
        listApplications(service, { projectId: project.id, order, limit, offset }),
        developers.list(),
        storage.listings.owners([project.id]),
      ])
      const ownerNames = new Set(names.get(project.id))
      const owners = all.filter(({ name }) => ownerNames.has(name))
      const otherDevelopers = all.filter(({ name }) => !ownerNames.has(name)).slice(0, offeredDevelopers)
      return { page: projectPage(request, { ...list, project, state, owners, otherDevelopers }) }
    },
    showNewProject: async (request) => ({ page: newProjectPage(request, emptyForm) }),
    async createProject(request) {
      const { developer, paths, form } = request
      const parsed = parseProjectForm(form)
      if (!parsed.data) return { page: newProjectPage(request, parsed.state), status: 422 }
      const { id, administrator } = developer
      if (!administrator && (await developers.projectIds(id)).length >= maxProjects) {
        throw new PortalError('too_many_projects')
      }
      try {
        const project = await registryFor(actorOf(request)).createProject(parsed.data, id)
        const redirectTo = form['from'] === 'start' ? paths.start : paths.project(project.id)
        return { redirectTo, notice: 'project_created' }
      } catch (error) {
        return { page: newProjectPage(request, nameTaken(error, parsed.data)), status: 422 }
      }
    },
    async showProjectSettings(request) {
      const project = await ownProject(storage, request)
      return { page: projectSettingsPage(request, project, projectFormState(project)) }
    },
    async changeProject(request) {
      const project = await ownProject(storage, request)
      const parsed = parseProjectForm(request.form)
      if (!parsed.data) return { page: projectSettingsPage(request, project, parsed.state), status: 422 }
      const { administrator } = request.developer
      try {
        await registryFor(actorOf(request)).changeProject(project, parsed.data, administrator)
        return { redirectTo: request.paths.project(project.id), notice: 'project_changed' }
      } catch (error) {
        const state = nameTaken(error, parsed.data)
        return { page: projectSettingsPage(request, project, state), status: 422 }
      }
    },
    async deleteProject(request) {
      const project = await ownProject(storage, request)
      const { data } = deletionForm.safeParse(request.form)
      if (!data) throw new PortalError('invalid_form')
      const registry = registryFor(actorOf(request))
      const { administrator } = request.developer
      const redirectTo = request.paths.project(project.id)
      if (data.decision === 'restore') {
        await registry.restoreProject(project, administrator)
        return { redirectTo, notice: 'project_restored' }
      }
      await registry.deleteProject(project, administrator)
      return { redirectTo, notice: 'project_deleted' }
    },
    async changeOwners(request) {
      requireAdministrator(request)
      const project = await ownProject(storage, request)
      const { data } = ownersForm.safeParse(request.form)
      const all = await developers.list()
      const changed = data && all.find(({ id }) => id === ('add' in data ? data.add : data.remove))
      if (!changed) throw new PortalError('invalid_form')
      const notice = 'add' in data ? 'owner_added' : 'owner_removed'
      await act(actorOf(request), async (stored, audit) => {
        await stored.developers['add' in data ? 'addProject' : 'removeProject'](changed.id, project.id)
        audit(notice, { detail: `${changed.name} ${project.id}` })
      })
      return { redirectTo: request.paths.project(project.id), notice }
    },
  }
}

const email = z.email('Enter an email address, such as ada@example.com.')
const projectForm = z.object({
  name: line(200),
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
