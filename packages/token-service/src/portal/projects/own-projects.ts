import type { Project, RegisteredClient } from '../../storage/application.ts'
import type { Storage } from '../../storage/storage.ts'
import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest } from '../portal-request.ts'

/** Limits a list to what the developer may see: administrators see everything. */
export function ownerIdOf({ developer }: DeveloperRequest): string | undefined {
  return developer.administrator ? undefined : developer.id
}

/** The projects that a developer may see: their own, or all of them for the administrator. */
export async function ownProjects(storage: Storage, request: DeveloperRequest): Promise<Project[]> {
  return request.developer.administrator ? storage.projects.list() : joinedProjects(storage, request)
}

/** The projects that a developer owns. */
export async function joinedProjects(storage: Storage, { developer }: DeveloperRequest): Promise<Project[]> {
  const own = new Set(await storage.developers.projectIds(developer.id))
  return (await storage.projects.list()).filter(({ id }) => own.has(id))
}

/** The project in the URL; another developer's project counts as missing. */
export async function ownProject(storage: Storage, request: DeveloperRequest): Promise<Project> {
  const projects = await ownProjects(storage, request)
  const project = projects.find(({ id }) => id === request.params['projectId'])
  if (!project) throw new PortalError('not_found')
  return project
}

/** The application in the URL, with its project and secrets. */
export async function ownClient(storage: Storage, request: DeveloperRequest): Promise<RegisteredClient> {
  const { id } = await ownProject(storage, request)
  const clients = await storage.applications.list(id)
  const client = clients.find(({ application }) => application.id === request.params['applicationId'])
  if (!client) throw new PortalError('not_found')
  return client
}
