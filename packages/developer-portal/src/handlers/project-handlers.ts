import { z } from 'zod'
import type { ServiceContext } from '@tokenwell/token-service/plugin'
import { emptyForm } from '../components/form.ts'
import { line, parseForm } from '../forms/parse-form.ts'
import { newProjectPage, projectPage, projectsPage } from '../pages/project-pages.ts'
import { actorOf } from '../request/actor.ts'
import { PortalError } from '../request/portal-error.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'
import { ownProject, ownProjects } from './own-projects.ts'

const maxProjects = 50

const projectForm = z.object({
  name: line(200),
  organization_name: line(200),
  developer_email: line(200).pipe(z.email('Enter an e-mail address, such as ada@example.com.')),
})

export function projectHandlers({ storage, registryFor }: ServiceContext) {
  return {
    async showProjects(request) {
      const projects = await ownProjects(storage, request)
      const clients = await storage.applications.listOf(projects.map(({ id }) => id))
      const withClients = projects.map((project) => ({
        project,
        clients: clients.filter((client) => client.project.id === project.id),
      }))
      return { page: projectsPage(request, withClients) }
    },
    async showProject(request) {
      const project = await ownProject(storage, request)
      return {
        page: projectPage(request, { project, clients: await storage.applications.list(project.id) }),
      }
    },
    showNewProject: async (request) => ({ page: newProjectPage(request, emptyForm) }),
    async createProject(request) {
      const parsed = parseForm(projectForm, request.form)
      if (!parsed.data) return { page: newProjectPage(request, parsed.state), status: 422 }
      const { id, administrator } = request.developer
      if (!administrator && (await storage.developers.projectIds(id)).length >= maxProjects) {
        throw new PortalError('too_many_projects')
      }
      const { name, organization_name: organizationName, developer_email: developerEmail } = parsed.data
      const project = await registryFor(actorOf(request)).createProject({
        name,
        organizationName,
        developerEmail,
      })
      await storage.developers.addProject(id, project.id)
      return { redirectTo: request.paths.project(project.id) }
    },
  } satisfies Record<string, DeveloperHandler>
}
