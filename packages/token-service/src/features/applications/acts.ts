import { randomUUID } from 'node:crypto'
import {
  isBeingDeleted,
  type Application,
  type ApplicationSettings,
  type Approval,
  type Project,
  type RegisteredClient,
} from '../../storage/application.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import type { ApplicationChanges } from './storage.ts'
import type { ProjectChanges } from '../projects/storage.ts'
import type { Transaction, RegistryContext } from '../acts.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { approvalOf, exceeds, type TokenSettings } from './settings.ts'
import { changesOf, type Audit } from '../../storage/act.ts'
import {
  AlreadyExists,
  createClientId,
  createClientSecret,
  storedSecret,
  BeingDeleted,
  endCredentials,
} from '../credentials/acts.ts'

export type ProjectDetails = Pick<Project, 'name' | 'organizationName' | 'developerEmail'>

export type NewApplication = ApplicationSettings &
  Pick<Application, 'projectId' | 'status'> &
  Partial<Pick<Application, 'claims' | 'review'>>

/** The application has changed since it was read. */
export class ApplicationChanged extends Error {
  constructor() {
    super('The application was changed in the meantime. Fetch it again, and repeat the change.')
  }
}

/** Names of projects are unique, so that nobody's project is taken for somebody else's. */
export class ProjectNameTaken extends AlreadyExists {
  constructor(name: string) {
    super(`There is a project named "${name}" already.`)
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

/** There is no request to decide on. */
class NothingRequested extends UsageError {
  constructor() {
    super('The application requests nothing, so there is nothing to decline.')
  }
}

/** Creates and changes projects, applications and secrets; each change is written to the audit log. */
export interface ApplicationRegistry {
  /** `ownerId`: the developer whose project it becomes. Throws {@link ProjectNameTaken}. */
  createProject(project: ProjectDetails, ownerId?: string): Promise<Project>
  /**
   * What token responses state of the organisation changes as in {@link ApplicationRegistry.changeSettings}. Throws
   * {@link ProjectNameTaken}.
   */
  changeProject(project: Project, details: ProjectDetails, byAdministrator: boolean): Promise<void>
  /**
   * Revokes all tokens of the project's applications. The applications can no longer get tokens, and are deleted with
   * the project {@link deletionGraceDays} days later, unless it is restored: what an administrator deletes, only by an
   * administrator. Unless that is one of the owners, the applications lose their approval, secrets and keys.
   */
  deleteProject(project: Project, byAdministrator: boolean): Promise<void>
  /** Restores the project, but no tokens. Throws {@link AdministratorsOnly} if an administrator deleted it. */
  restoreProject(project: Project, byAdministrator: boolean): Promise<void>
  /** As when the project changes. Throws {@link OtherOwners}. */
  moveApplication(application: Application, toProjectId: string, byAdministrator: boolean): Promise<void>
  /** As for a project. */
  deleteApplication(application: Application, byAdministrator: boolean): Promise<void>
  /** As for a project. */
  restoreApplication(application: Application, byAdministrator: boolean): Promise<void>
  /** Returns the secret, which cannot be read again. Throws {@link AlreadyExists} if an application has that `id`. */
  createApplication(
    application: NewApplication,
    id?: string,
  ): Promise<{ application: Application; clientSecret: string }>
  /**
   * Changes settings. For an approved application, more products, scopes or audiences, another token format, weaker binding of tokens, a longer lifetime, and what token responses state of
   * it are only requested, unless `byAdministrator` is set: until an administrator approves them, the approval stays in
   * effect. A new application that was declined waits for approval again. Throws {@link ApplicationChanged} if somebody
   * else has changed it in the meantime.
   */
  changeSettings(
    application: Application,
    settings: ApplicationSettings,
    byAdministrator: boolean,
    /** What the owner writes to the administrators. */
    note?: string,
  ): Promise<void>
  /** Changes the format of its tokens, by an administrator. */
  changeTokens(application: Application, settings: TokenSettings): Promise<void>
  /**
   * Approves the application with what it requests. Throws {@link ApplicationChanged} if `revision`, which the
   * administrator has seen, is not the current one.
   */
  approve(application: Application, revision: number): Promise<void>
  /**
   * Declines a new application, or what an approved one requests. Throws {@link ApplicationChanged} as `approve`, and
   * {@link NothingRequested}.
   */
  decline(application: Application, decision?: DeclineOptions): Promise<void>
  /** The request waits again. Throws {@link ApplicationChanged} if the application has changed since it was declined. */
  undoDecline(application: Application): Promise<void>
  /** Revokes the application's approval and all its tokens; a later approval does not reactivate them. */
  revoke(application: Application): Promise<void>
  /** Revokes all current tokens of the application. */
  revokeTokens(application: Application): Promise<void>
}

export interface DeclineOptions {
  /** For the owner of the application. */
  readonly reason?: string | undefined
  /** The one that the administrator has seen. */
  readonly revision?: number | undefined
}

/** How long something that is being deleted can be restored. */
const deletionGraceDays = 30

export function createApplicationRegistry(context: RegistryContext, by: Actor): ApplicationRegistry {
  const { act, keyring, clock } = context

  const deletion = (byAdministrator: boolean) => ({
    deletesAtMs: clock.now() + deletionGraceDays * 86_400_000,
    deletedBy: byAdministrator ? ('administrator' as const) : ('owner' as const),
  })
  const restored = { deletesAtMs: null, deletedBy: null }

  /** Whether an administrator ends what belongs to other people. */
  const endsForOthers = async (projectId: string, byAdministrator: boolean, { developers }: Transaction) =>
    byAdministrator && !(await developers.ownerIds(projectId)).includes(by.actorId ?? '')

  /** Ends the approval of an application, its secrets and keys. */
  const end = async (client: RegisteredClient, stored: Transaction, audit: Audit) => {
    const { id, clientId, status } = client.application
    if (status === 'approved') {
      await stored.applications.update(id, unapproved)
      audit('application_revoked', {
        clientId,
        changes: changesOf({ status: unapproved.status }, { status }),
      })
    }
    await endCredentials(client, stored, { audit, nowMs: clock.now() })
  }

  /** Changes the application; `changes` gets it as it is now, and what it returns is written to the audit log. */
  const change = (
    { id, clientId }: Pick<Application, 'id' | 'clientId'>,
    event: string,
    changes: (current: Application, stored: Transaction) => OrPromise<ApplicationChanges>,
    { revision, detail, revokesTokens, whileDeleted, before = (current) => current }: ChangeOptions = {},
  ) =>
    act(by, async (stored, audit) => {
      const { applications } = stored
      const client = await applications.findClient(clientId)
      if (!client || (revision ?? client.application.revision) !== client.application.revision)
        throw new ApplicationChanged()
      if (!whileDeleted && isBeingDeleted(client)) throw new BeingDeleted('application')
      const changed = await changes(client.application, stored)
      await applications.update(id, changed)
      if (revokesTokens) await applications.revokeTokens(id)
      const { review: _, ...listed } = changed
      audit(event, { clientId, detail, changes: changesOf(listed, before(client.application)) })
    })

  const changeProject = (
    { id }: Project,
    event: string,
    changesTo: (current: Project, stored: Transaction) => OrPromise<ProjectChanges | undefined>,
    also: (stored: Transaction, audit: Audit) => Promise<void> = async () => {},
  ) =>
    act(by, async (stored, audit) => {
      const current = await stored.projects.find(id)
      if (!current) throw new NotFoundError(`There is no project with the ID "${id}".`)
      const changes = await changesTo(current, stored)
      if (!changes) return
      await stored.projects.update(id, changes)
      audit(event, { detail: id, changes: changesOf(changes, current) })
      await also(stored, audit)
    })

  return {
    createProject: (details, ownerId) =>
      act(by, async ({ projects, developers }, audit) => {
        const project = { ...details, id: randomUUID(), createdAtMs: clock.now() }
        if (!(await projects.create(project))) throw new ProjectNameTaken(details.name)
        if (ownerId !== undefined) await developers.addProject(ownerId, project.id)
        audit('project_created', { detail: project.id, changes: changesOf(details) })
        return project
      }),
    changeProject: (project, details, byAdministrator) => {
      const { organizationName, developerEmail } = details
      const changes = async ({ deletesAtMs }: Project, { projects }: Transaction) => {
        if (deletesAtMs !== undefined) throw new BeingDeleted('project')
        const named = await projects.findByName(details.name)
        if (named && named.id !== project.id) throw new ProjectNameTaken(details.name)
        return details
      }
      return changeProject(project, 'project_changed', changes, async ({ applications }, audit) => {
        for (const { application } of await applications.list(project.id)) {
          const stated = withApproval(application, { organizationName, developerEmail }, byAdministrator)
          const changed = changesOf(stated, application)
          if (!changed) continue
          const review = { ...application.review, requestedAtMs: clock.now() }
          await applications.update(application.id, { ...stated, ...(stated.requested && { review }) })
          const { clientId } = application
          audit(stated.requested ? 'approval_requested' : 'application_changed', {
            clientId,
            changes: changed,
          })
        }
      })
    },
    deleteProject: (project, byAdministrator) =>
      changeProject(
        project,
        'project_deleted',
        (current) => {
          leaveToAdministrators(current, byAdministrator)
          return deletion(byAdministrator)
        },
        async (stored, audit) => {
          const isEnd = await endsForOthers(project.id, byAdministrator, stored)
          for (const client of await stored.applications.list(project.id)) {
            await stored.applications.revokeTokens(client.application.id)
            if (isEnd) await end(client, stored, audit)
          }
        },
      ),
    restoreProject: (project, byAdministrator) =>
      changeProject(project, 'project_restored', (current) => {
        leaveToAdministrators(current, byAdministrator)
        return current.deletesAtMs === undefined ? undefined : restored
      }),
    moveApplication: (application, projectId, byAdministrator) =>
      change(
        application,
        'application_moved',
        async (current, { projects, developers }) => {
          const to = await projects.find(projectId)
          if (!to) throw new NotFoundError(`There is no project with the ID "${projectId}".`)
          if (to.deletesAtMs !== undefined) throw new BeingDeleted('project')
          if (!byAdministrator && current.status === 'approved') {
            const owners = new Set(await developers.ownerIds(current.projectId))
            if (!(await developers.ownerIds(projectId)).every((id) => owners.has(id))) throw new OtherOwners()
          }
          const { organizationName, developerEmail } = to
          return {
            projectId,
            ...withApproval(current, { organizationName, developerEmail }, byAdministrator),
          }
        },
        { detail: projectId },
      ),
    deleteApplication: ({ id, clientId }, byAdministrator) =>
      act(by, async (stored, audit) => {
        const client = await stored.applications.findClient(clientId)
        if (!client) throw new ApplicationChanged()
        const { application, project } = client
        for (const each of [application, project]) leaveToAdministrators(each, byAdministrator)
        const isEnd = await endsForOthers(project.id, byAdministrator, stored)
        const changes = deletion(byAdministrator)
        await stored.applications.update(id, changes)
        await stored.applications.revokeTokens(id)
        audit('application_deleted', { clientId, changes: changesOf(changes, application) })
        if (isEnd) await end(client, stored, audit)
      }),
    restoreApplication: ({ id, clientId }, byAdministrator) =>
      act(by, async ({ applications }, audit) => {
        const current = (await applications.findClient(clientId))?.application
        if (!current) throw new ApplicationChanged()
        leaveToAdministrators(current, byAdministrator)
        if (current.deletesAtMs === undefined) return
        await applications.update(id, restored)
        audit('application_restored', { clientId, changes: changesOf(restored, current) })
      }),
    createApplication: (details, id = randomUUID()) =>
      act(by, async ({ applications, projects }, audit) => {
        const nowMs = clock.now()
        const clientId = createClientId()
        const project = await projects.find(details.projectId)
        if (!project) throw new NotFoundError(`There is no project with the ID "${details.projectId}".`)
        if (project.deletesAtMs !== undefined) throw new BeingDeleted('project')
        const { organizationName, developerEmail } = project
        const created = {
          id,
          clientId,
          createdAtMs: nowMs,
          revision: 0,
          tokenGeneration: 0,
          keys: [] as const,
        }
        const application = { claims: {}, ...details, organizationName, developerEmail, ...created }
        const clientSecret = createClientSecret()
        const secret = storedSecret(keyring, { ownerId: id, value: clientSecret, nowMs })
        if (!(await applications.create(application, [secret]))) throw new AlreadyExists()
        const { review, ...listed } = details
        audit('application_created', { clientId, detail: review?.note, changes: changesOf(listed) })
        return { application, clientSecret }
      }),
    changeSettings: (application, settings, byAdministrator, note) => {
      const { responseForm, ...approval } = settings
      const changes = withApproval(application, approval, byAdministrator)
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
              requestedAtMs: isRequested ? clock.now() : review?.requestedAtMs,
            },
          }),
      }
      return change(application, event, () => wanted, { revision, detail: note || undefined })
    },
    changeTokens: (application, { claims, ...approval }) =>
      change(application, 'application_changed', (current) => ({
        ...withApproval(current, approval, true),
        claims,
      })),
    approve: (application, revision) =>
      change(
        application,
        'application_approved',
        ({ products, scopes, requested }) => ({
          products,
          scopes,
          ...requested,
          requested: null,
          review: null,
          status: 'approved',
        }),
        { revision, before: granted },
      ),
    decline: (application, { reason, revision } = {}) =>
      change(
        application,
        'request_declined',
        ({ status, requested, review, revision: before }) => {
          if (!requested && status !== 'pending') throw new NothingRequested()
          const declined = { reason, requested, revision: before + 1 }
          return {
            ...(requested ? { requested: null } : { status: 'revoked' }),
            review: { ...review, declined },
          }
        },
        { revision, detail: reason },
      ),
    undoDecline: (application) =>
      change(application, 'decline_undone', ({ revision, review: { declined, ...review } = {} }) => {
        if (declined?.revision !== revision) throw new ApplicationChanged()
        const { requested } = declined
        return { ...(requested ? { requested } : { status: 'pending' }), review }
      }),
    revoke: (application) =>
      change(application, 'application_revoked', () => unapproved, {
        revokesTokens: true,
        whileDeleted: true,
      }),
    revokeTokens: (application) =>
      change(application, 'tokens_revoked', () => ({}), { revokesTokens: true, whileDeleted: true }),
  }
}

type OrPromise<Value> = Value | Promise<Value>

const unapproved = { status: 'revoked', review: null } as const

function leaveToAdministrators(
  { deletedBy }: Pick<Application | Project, 'deletedBy'>,
  byAdministrator: boolean,
): void {
  if (deletedBy === 'administrator' && !byAdministrator)
    throw new AdministratorsOnly('An administrator deleted it. Only an administrator can restore it.')
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

/** The application with what it was granted so far: nothing before its approval. */
function granted(application: Application): Application {
  return application.status === 'approved' ? application : { ...application, products: [], scopes: [] }
}

/** What changes at once, and what is only requested because the approval of an approved application lacks it. */
function withApproval(
  current: Application,
  changes: Partial<Approval>,
  byAdministrator: boolean,
): Partial<Approval> & { readonly requested: Approval | null } {
  const latest = current.requested ?? current
  const wanted: Approval = { ...approvalOf(latest), ...changes }
  if (byAdministrator || current.status !== 'approved') {
    // What else is requested still needs a decision.
    const isOpen = current.requested && exceeds(wanted, { ...current, ...changes })
    return { ...changes, requested: isOpen ? wanted : null }
  }
  return exceeds(wanted, current) ? { requested: wanted } : { ...wanted, requested: null }
}
