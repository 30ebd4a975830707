import { z } from 'zod'
import type { ServiceContext } from '../service-context.ts'
import type { DeveloperStep } from './exchange.ts'
import { ownProject, ownProjects } from './owned.ts'
import { emptyForm } from './page/form.ts'
import { line, parseForm } from './page/parse-form.ts'
import { newProjectPage, projectPage, projectsPage } from './pages/project-pages.ts'

const projectForm = z.object({
  name: line(200),
  organization_name: line(200),
  developer_email: line(200).pipe(z.email('This is no e-mail address.')),
})

export function projectSteps({ storage, registry }: ServiceContext) {
  return {
    async showProjects(exchange) {
      const projects = await ownProjects(storage, exchange)
      const withClients = await Promise.all(
        projects.map(async (project) => ({ project, clients: await storage.applications.list(project.id) })),
      )
      return { page: projectsPage(exchange, withClients) }
    },
    async showProject(exchange) {
      const project = await ownProject(storage, exchange)
      return {
        page: projectPage(exchange, { project, clients: await storage.applications.list(project.id) }),
      }
    },
    showNewProject: async (exchange) => ({ page: newProjectPage(exchange, emptyForm) }),
    async createProject(exchange) {
      const parsed = parseForm(projectForm, exchange.form)
      if (!parsed.data) return { page: newProjectPage(exchange, parsed.state), status: 422 }
      const { name, organization_name: organizationName, developer_email: developerEmail } = parsed.data
      const project = await registry.createProject({ name, organizationName, developerEmail })
      await storage.developers.addProject(exchange.developer.id, project.id)
      return { redirectTo: exchange.paths.project(project.id) }
    },
  } satisfies Record<string, DeveloperStep>
}
