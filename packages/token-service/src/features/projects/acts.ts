import { randomUUID } from 'node:crypto'
import { NotFoundError } from '../../runtime/usage-error.ts'
import { changesOf, type Act } from '../../storage/act.ts'
import type { AuditEventName } from '../../storage/audit-event-names.ts'
import { checkRevision, revisionOf } from '../../storage/revision.ts'
import type { Project } from '../../storage/application.ts'
import {
  deletion,
  endApplication,
  endsForOthers,
  leaveToAdministrators,
  restored,
  withoutRequest,
  withOrganization,
  type OrPromise,
} from '../applications/acts.ts'
import { applicationStorage } from '../applications/storage.ts'
import { AlreadyExists, BeingDeleted } from '../credentials/acts.ts'
import { developerStorage } from '../people/storage.ts'
import type { Developer } from '../../storage/developer.ts'
import { projectStorage, type ProjectChanges } from './storage.ts'

export type ProjectDetails = Pick<Project, 'name' | 'organizationName' | 'developerEmail'>

export function projectRevision({ name, organizationName, developerEmail }: ProjectDetails): string {
  return revisionOf({ name, organizationName, developerEmail })
}

/** Names of projects are unique, so that nobody's project is taken for somebody else's. */
export class ProjectNameTaken extends AlreadyExists {
  constructor(name: string) {
    super(`There is a project named "${name}" already.`)
  }
}

/**
 * @param ownerId the developer whose project it becomes
 * @throws {@link ProjectNameTaken}
 */
export async function createProject(act: Act, details: ProjectDetails, ownerId?: string): Promise<Project> {
  const project = { ...details, id: randomUUID(), createdAtMs: act.clock.now() }
  if (!(await projectStorage(act).create(project))) throw new ProjectNameTaken(details.name)
  if (ownerId !== undefined) await developerStorage(act).addProject(ownerId, project.id)
  act.audit('project_created', { detail: project.id, changes: changesOf(details) })
  return project
}

/**
 * What token responses state of the organisation changes as the settings of an application: for those that are approved, it is
 * only requested, unless `byAdministrator` is set.
 *
 * @param seen the revision that the change is based on
 * @throws {@link ProjectNameTaken}
 * @throws {@link ChangedMeanwhile}
 */
export async function changeProject(
  act: Act,
  { id }: Project,
  details: ProjectDetails,
  byAdministrator: boolean,
  seen?: string,
): Promise<void> {
  await change(act, id, 'project_changed', async (current) => {
    const { deletesAtMs } = current
    checkRevision('The project', projectRevision(current), seen)
    if (deletesAtMs !== undefined) throw new BeingDeleted('project')
    const named = await projectStorage(act).findByName(details.name)
    if (named && named.id !== id) throw new ProjectNameTaken(details.name)
    return details
  })
  const applications = applicationStorage(act)
  for (const { application } of await applications.list(id)) {
    const changed = withOrganization(act, application, details, byAdministrator)
    const { review: _, ...listed } = changed
    const changes = changesOf(listed, application)
    if (!changes) continue
    await applications.update(application.id, changed)
    const { clientId } = application
    act.audit(changed.requested ? 'approval_requested' : 'application_changed', { clientId, changes })
  }
}

/**
 * Revokes all tokens of the project's applications, which can no longer get any, and are deleted with the project as a deleted
 * application is. What an administrator deletes, only an administrator restores.
 */
export async function deleteProject(act: Act, { id }: Project, byAdministrator: boolean): Promise<void> {
  await change(act, id, 'project_deleted', (current) => {
    leaveToAdministrators(current, byAdministrator)
    return deletion(act, byAdministrator)
  })
  const isEnd = await endsForOthers(act, id, byAdministrator)
  const applications = applicationStorage(act)
  for (const client of await applications.list(id)) {
    const { application } = client
    if (application.requested) await applications.update(application.id, withoutRequest(application))
    await applications.revokeTokens(application.id)
    if (isEnd) await endApplication(act, client)
  }
}

/** Restores the project, but no tokens. @throws {@link AdministratorsOnly} if an administrator deleted it */
export async function restoreProject(act: Act, { id }: Project, byAdministrator: boolean): Promise<void> {
  await change(act, id, 'project_restored', (current) => {
    leaveToAdministrators(current, byAdministrator)
    return current.deletesAtMs === undefined ? undefined : restored
  })
}

/** An owner sees the project and its applications, and changes them. */
export async function addOwner(
  act: Act,
  project: Project,
  developer: Pick<Developer, 'id' | 'name'>,
): Promise<void> {
  await developerStorage(act).addProject(developer.id, project.id)
  act.audit('owner_added', { detail: `${developer.name} ${project.id}` })
}

export async function removeOwner(
  act: Act,
  project: Project,
  developer: Pick<Developer, 'id' | 'name'>,
): Promise<void> {
  await developerStorage(act).removeProject(developer.id, project.id)
  act.audit('owner_removed', { detail: `${developer.name} ${project.id}` })
}

/** `changesTo` gets the project as it is now; without changes, nothing happens. */
async function change(
  act: Act,
  id: string,
  event: AuditEventName,
  changesTo: (current: Project) => OrPromise<ProjectChanges | undefined>,
): Promise<void> {
  const projects = projectStorage(act)
  const current = await projects.find(id)
  if (!current) throw new NotFoundError(`There is no project with the ID "${id}".`)
  const changes = await changesTo(current)
  if (!changes) return
  await projects.update(id, changes)
  act.audit(event, { detail: id, changes: changesOf(changes, current) })
}
