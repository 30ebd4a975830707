import type { Project, RegisteredClient } from '../applications/application.ts'
import type { Storage } from '../storage/storage.ts'
import type { DeveloperExchange } from './exchange.ts'
import { PortalRefusal } from './portal-refusal.ts'

/** The projects a developer may see: the own ones, or all of them for the administrator. */
export async function ownProjects(storage: Storage, { developer }: DeveloperExchange): Promise<Project[]> {
  const all = await storage.projects.list()
  if (developer.administrator) return all
  const own = new Set(await storage.developers.projectIds(developer.id))
  return all.filter(({ id }) => own.has(id))
}

/** The project of the address; one that is not the developer's looks like none. */
export async function ownProject(storage: Storage, exchange: DeveloperExchange): Promise<Project> {
  const projects = await ownProjects(storage, exchange)
  const project = projects.find(({ id }) => id === exchange.params['projectId'])
  if (!project) throw new PortalRefusal('not_found')
  return project
}

/** The application of the address, with its project and secrets. */
export async function ownClient(storage: Storage, exchange: DeveloperExchange): Promise<RegisteredClient> {
  const { id } = await ownProject(storage, exchange)
  const clients = await storage.applications.list(id)
  const client = clients.find(({ application }) => application.id === exchange.params['applicationId'])
  if (!client) throw new PortalRefusal('not_found')
  return client
}
