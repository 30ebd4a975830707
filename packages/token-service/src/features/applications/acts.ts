import { randomUUID } from 'node:crypto'
import {
  isBeingDeleted,
  type Application,
  type ApplicationSettings,
  type Approval,
  type Project,
  type RegisteredClient,
} from '../../storage/application.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { changesOf, type Act } from '../../storage/act.ts'
import type { AuditEventName } from '../../storage/audit-event-names.ts'
import { checkRevision } from '../../storage/revision.ts'
import {
  BeingDeleted,
  createClientId,
  createClientSecret,
  endCredentials,
  storedSecret,
} from '../credentials/acts.ts'
import { developerStorage } from '../people/storage.ts'
import { projectStorage } from '../projects/storage.ts'
import { approvedNow, rejectWithoutAudience, type TokenSettings } from './settings.ts'
import { applicationStorage, type ApplicationChanges } from './storage.ts'

export type NewApplication = ApplicationSettings &
  Pick<Application, 'projectId' | 'status'> &
  Partial<Pick<Application, 'claims' | 'review'>>

/** The application has changed since it was read. */
export class ApplicationChanged extends Error {
  constructor() {
    super('The application was changed in the meantime. Fetch it again, and repeat the change.')
  }
}

/** Only an administrator can do this. */
export class AdministratorsOnly extends UsageError {}

/** Only an administrator can give an approved application to other people. */
export class OtherOwners extends AdministratorsOnly {
  constructor() {
    super('The other project has other owners. Only an administrator can move an approved application to it.')
  }
}

/** Returns the secret, which cannot be read again. */
export async function createApplication(
  act: Act,
  details: NewApplication,
): Promise<{ id: string; application: Application; clientSecret: string }> {
  const id = randomUUID()
  const nowMs = act.clock.now()
  const clientId = createClientId()
  const project = await projectStorage(act).find(details.projectId)
  if (!project) throw new NotFoundError(`There is no project with the ID "${details.projectId}".`)
  if (project.deletesAtMs !== undefined) throw new BeingDeleted('project')
  const { organizationName, developerEmail } = project
  const created = { id, clientId, createdAtMs: nowMs, revision: 0, tokenGeneration: 0, keys: [] as const }
  const application = { claims: {}, ...details, organizationName, developerEmail, ...created }
  const clientSecret = createClientSecret()
  const secret = storedSecret(act.keyring, { ownerId: id, value: clientSecret, nowMs })
  await applicationStorage(act).create(application, [secret])
  const { review, ...listed } = details
  act.audit('application_created', { clientId, detail: review?.note, changes: changesOf(listed) })
  return { id, application, clientSecret }
}

interface SettingsChange {
  readonly byAdministrator: boolean
  /** What the owner writes to the administrators. */
  readonly note?: string | undefined
  /** The revision that the form showed. */
  readonly seen?: string | undefined
}

/**
 * Changes settings. For an approved application, more products, scopes or audiences, another token format, weaker binding of tokens,
 * a longer lifetime, and what token responses state of it are only requested, unless `byAdministrator` is set: until an
 * administrator approves them, the approval stays in effect. A new application that was declined waits for approval again.
 *
 * @throws {@link ApplicationChanged} if somebody else has changed it in the meantime
 */
export async function changeSettings(
  act: Act,
  application: Application,
  { responseForm, ...approval }: ApplicationSettings,
  { byAdministrator, note, seen }: SettingsChange,
): Promise<void> {
  // Below, it is compared with the one in the database.
  if (seen !== undefined && seen !== String(application.revision)) throw new ApplicationChanged()
  const changes = approvedNow(application, approval, byAdministrator)
  const { revision, status, review } = application
  const isNewRequest = !byAdministrator && status === 'revoked' && review?.declined !== undefined
  const isRequested = isNewRequest || Boolean(changes.requested)
  const event = isRequested ? 'approval_requested' : 'application_changed'
  const waits = isRequested || status === 'pending'
  const wanted = {
    responseForm,
    ...changes,
    ...(isNewRequest && { status: 'pending' as const }),
    ...(waits &&
      !byAdministrator && {
        review: {
          ...(note && { note }),
          requestedAtMs: isRequested ? act.clock.now() : review?.requestedAtMs,
        },
      }),
  }
  await changeApplication(act, application, event, () => wanted, { revision, detail: note || undefined })
}

/**
 * Changes the format of its tokens, by an administrator: what `changes` names, and nothing else.
 *
 * @param seen the revision that the changes are based on
 * @throws {@link ChangedMeanwhile}
 */
export async function changeTokens(
  act: Act,
  clientId: string,
  { claims, ...changes }: TokenSettings,
  seen?: string,
): Promise<void> {
  const client = await applicationStorage(act).findClient(clientId)
  if (!client) throw new NotFoundError(`There is no application with the client ID "${clientId}".`)
  const { application } = client
  checkRevision('The application', String(application.revision), seen)
  await changeApplication(act, application, 'application_changed', (current) => {
    const named = Object.entries(changes).filter(([, value]) => value !== undefined)
    const approval = Object.fromEntries(named) as Partial<Approval>
    rejectWithoutAudience([{ ...current, ...approval }])
    return { ...approvedNow(current, approval, true), ...(claims && { claims }) }
  })
}

/** What token responses state of its organisation becomes that of the project, or is requested. */
export function withOrganization(
  act: Act,
  application: Application,
  { organizationName, developerEmail }: Pick<Project, 'organizationName' | 'developerEmail'>,
  byAdministrator: boolean,
): ApplicationChanges {
  const stated = approvedNow(application, { organizationName, developerEmail }, byAdministrator)
  const review = { ...application.review, requestedAtMs: act.clock.now() }
  return { ...stated, ...(stated.requested && { review }) }
}

/** As when the project changes, by {@link withOrganization}. @throws {@link OtherOwners} */
export async function moveApplication(
  act: Act,
  application: Application,
  projectId: string,
  byAdministrator: boolean,
): Promise<void> {
  const developers = developerStorage(act)
  await changeApplication(
    act,
    application,
    'application_moved',
    async (current) => {
      const to = await projectStorage(act).find(projectId)
      if (!to) throw new NotFoundError(`There is no project with the ID "${projectId}".`)
      if (to.deletesAtMs !== undefined) throw new BeingDeleted('project')
      if (!byAdministrator && current.status === 'approved') {
        const owners = new Set(await developers.ownerIds(current.projectId))
        if (!(await developers.ownerIds(projectId)).every((id) => owners.has(id))) throw new OtherOwners()
      }
      return { projectId, ...withOrganization(act, current, to, byAdministrator) }
    },
    { detail: projectId },
  )
}

/**
 * Revokes all tokens of the application, which can no longer get any, and is deleted {@link deletionGraceDays} days later,
 * unless it is restored: what an administrator deletes, only by an administrator. Unless that is one of the owners, the
 * application loses its approval, secrets and keys.
 *
 * @throws {@link AdministratorsOnly} if an administrator has deleted it
 */
export async function deleteApplication(
  act: Act,
  { id, clientId }: Pick<Application, 'id' | 'clientId'>,
  byAdministrator: boolean,
): Promise<void> {
  const applications = applicationStorage(act)
  const client = await applications.findClient(clientId)
  if (!client) throw new ApplicationChanged()
  const { application, project } = client
  for (const each of [application, project]) leaveToAdministrators(each, byAdministrator)
  const isEnd = await endsForOthers(act, project.id, byAdministrator)
  const changes = { ...deletion(act, byAdministrator), ...withoutRequest(application) }
  await applications.update(id, changes)
  await applications.revokeTokens(id)
  act.audit('application_deleted', { clientId, changes: changesOf(changes, application) })
  if (isEnd) await endApplication(act, client)
}

/** Restores the application, but no tokens. @throws {@link AdministratorsOnly} if an administrator deleted it */
export async function restoreApplication(
  act: Act,
  { id, clientId }: Pick<Application, 'id' | 'clientId'>,
  byAdministrator: boolean,
): Promise<void> {
  const applications = applicationStorage(act)
  const current = (await applications.findClient(clientId))?.application
  if (!current) throw new ApplicationChanged()
  leaveToAdministrators(current, byAdministrator)
  if (current.deletesAtMs === undefined) return
  await applications.update(id, restored)
  act.audit('application_restored', { clientId, changes: changesOf(restored, current) })
}

interface ChangeOptions {
  /** The one that was seen. */
  readonly revision?: number | undefined
  readonly detail?: string | undefined
  readonly revokesTokens?: boolean | undefined
  /** Whether it is possible while the application is being deleted. @default false */
  readonly whileDeleted?: boolean | undefined
  /** What the audit log compares with, if it is not the application as it was. */
  readonly before?: (current: Application) => Application
}

/** Changes the application; `changes` gets it as it is now, and what it returns is written to the audit log. */
export async function changeApplication(
  act: Act,
  { id, clientId }: Pick<Application, 'id' | 'clientId'>,
  event: AuditEventName,
  changes: (current: Application) => OrPromise<ApplicationChanges>,
  { revision, detail, revokesTokens, whileDeleted, before = (current) => current }: ChangeOptions = {},
): Promise<void> {
  const applications = applicationStorage(act)
  const client = await applications.findClient(clientId)
  if (!client || (revision ?? client.application.revision) !== client.application.revision)
    throw new ApplicationChanged()
  if (!whileDeleted && isBeingDeleted(client)) throw new BeingDeleted('application')
  const changed = await changes(client.application)
  await applications.update(id, changed)
  if (revokesTokens) await applications.revokeTokens(id)
  const { review: _, ...listed } = changed
  act.audit(event, { clientId, detail, changes: changesOf(listed, before(client.application)) })
}

export type OrPromise<Value> = Value | Promise<Value>

/** How long something that is being deleted can be restored. */
const deletionGraceDays = 30

export function deletion({ clock }: Act, byAdministrator: boolean) {
  return {
    deletesAtMs: clock.now() + deletionGraceDays * 86_400_000,
    deletedBy: byAdministrator ? ('administrator' as const) : ('owner' as const),
  }
}

/** A deletion closes what was requested: who restores the application requests it again. */
export function withoutRequest({ requested }: Application): ApplicationChanges {
  return requested ? { requested: null, review: null } : {}
}

export const restored = { deletesAtMs: null, deletedBy: null }

export function leaveToAdministrators(
  { deletedBy }: Pick<Application | Project, 'deletedBy'>,
  byAdministrator: boolean,
): void {
  if (deletedBy === 'administrator' && !byAdministrator)
    throw new AdministratorsOnly('An administrator deleted it. Only an administrator can restore it.')
}

/** Whether an administrator ends what belongs to other people. */
export async function endsForOthers(act: Act, projectId: string, byAdministrator: boolean): Promise<boolean> {
  return byAdministrator && !(await developerStorage(act).ownerIds(projectId)).includes(act.by.actorId ?? '')
}

/** What is requested ends with the approval: it would return as a change that looks harmless. */
export const unapproved = { status: 'revoked', requested: null, review: null } as const

/** Ends the approval of an application, its secrets and keys. */
export async function endApplication(act: Act, client: RegisteredClient): Promise<void> {
  const { id, clientId, status } = client.application
  if (status === 'approved') {
    await applicationStorage(act).update(id, unapproved)
    act.audit('application_revoked', {
      clientId,
      changes: changesOf({ status: unapproved.status }, { status }),
    })
  }
  await endCredentials(act, client)
}
