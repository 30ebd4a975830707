import { PortalError } from '../../portal/portal-error.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import type { Storage } from '../context.ts'
import type { Project, RegisteredClient } from '../../storage/application.ts'

/** Limits a list to what the developer may see: administrators see everything. */
export function ownerIdOf({ developer }: DeveloperRequest): string | undefined {
  return developer.administrator ? undefined : developer.id
}

/** The projects that a developer owns. */
export async function joinedProjects(storage: Storage, { developer }: DeveloperRequest): Promise<Project[]> {
  const ids = await storage.developers.projectIds(developer.id)
  const found = await Promise.all(ids.map((id) => storage.projects.find(id)))
  return found.filter((project) => project !== undefined).toSorted((a, b) => a.createdAtMs - b.createdAtMs)
}

/** The project in the URL; another developer's project counts as missing. */
export function ownProject(storage: Storage, request: DeveloperRequest): Promise<Project> {
  return findOwnProject(storage, request, request.params['projectId'])
}

/** The project with that ID, if the developer may change it. */
export async function ownedProject(
  { projects, developers }: Storage,
  { developer }: DeveloperRequest,
  id: string,
): Promise<Project | undefined> {
  const project = await projects.find(id)
  const isOwn = developer.administrator || (await developers.projectIds(developer.id)).includes(id)
  return isOwn ? project : undefined
}

/** The same; another developer's project counts as missing. */
export async function findOwnProject(storage: Storage, request: DeveloperRequest, id = ''): Promise<Project> {
  const project = await ownedProject(storage, request, id)
  if (project) return project
  throw new PortalError('not_found')
}

/** The application in the URL, with its project and secrets. */
export async function ownClient(
  { applications, developers }: Pick<Storage, 'applications' | 'developers'>,
  { developer, params }: DeveloperRequest,
): Promise<RegisteredClient> {
  const { projectId = '', applicationId } = params
  const isOwn = developer.administrator || (await developers.projectIds(developer.id)).includes(projectId)
  const client = isOwn && applicationId !== undefined ? await applications.find(applicationId) : undefined
  if (client?.project.id === projectId) return client
  throw new PortalError('not_found')
}
