import { randomUUID } from 'node:crypto'
import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from './keyring.ts'
import type { ApplicationChanges, Storage } from '../storage/storage.ts'
import type { Application, ApplicationSettings, Approval, Project } from '../storage/application.ts'
import { createClientId, createClientSecret, storedSecret } from './client-secret.ts'
import {
  AlreadyExists,
  applicationKeys,
  createCredentialRegistry,
  type CredentialRegistry,
} from './credential-registry.ts'

export type ProjectDetails = Pick<Project, 'name' | 'organizationName' | 'developerEmail'>

export type NewApplication = Omit<
  Application,
  'id' | 'clientId' | 'createdAtMs' | 'requested' | 'revision' | 'tokenGeneration' | 'deletesAtMs' | 'keys'
>

/** The application has changed since it was read. */
export class ApplicationChanged extends Error {}

/** Who changes something, and from where, for the audit log. */
export interface Actor {
  readonly actor: string
  readonly address: string
}

/** Creates and changes projects, applications and secrets; each change is written to the audit log. */
export interface ApplicationRegistry extends CredentialRegistry {
  createProject(project: ProjectDetails): Promise<Project>
  changeProject(project: Project, details: ProjectDetails): Promise<void>
  /**
   * Revokes all tokens of the project's applications. The applications can no longer get tokens, and are deleted with
   * the project {@link deletionGraceDays} days later, unless it is restored.
   */
  deleteProject(project: Project): Promise<void>
  restoreProject(project: Project): Promise<void>
  moveApplication(application: Application, to: Project): Promise<void>
  /** As for a project. */
  deleteApplication(application: Application): Promise<void>
  /** Restores the application, but not its tokens. */
  restoreApplication(application: Application): Promise<void>
  /** Returns the secret, which cannot be read again. Throws {@link AlreadyExists} if an application has that `id`. */
  createApplication(
    application: NewApplication,
    id?: string,
  ): Promise<{ application: Application; clientSecret: string }>
  /**
   * Changes settings. For an approved application, more products or a longer lifetime are only requested, unless
   * `byAdministrator` is set: until an administrator approves them, the approval stays in effect. Throws
   * {@link ApplicationChanged} if somebody else has changed it in the meantime.
   */
  changeSettings(
    application: Application,
    settings: ApplicationSettings,
    byAdministrator: boolean,
  ): Promise<void>
  /**
   * Approves the application with what it requests. Throws {@link ApplicationChanged} if `revision`, which the
   * administrator has seen, is not the current one.
   */
  approve(application: Application, revision: number): Promise<void>
  /** Declines what an approved application requests. */
  decline(application: Application): Promise<void>
  /** Revokes the application's approval and all its tokens; a later approval does not reactivate them. */
  revoke(application: Application): Promise<void>
  /** Revokes all current tokens of the application. */
  revokeTokens(application: Application): Promise<void>
}

/** How long something that is being deleted can be restored. */
const deletionGraceDays = 30

export interface ApplicationRegistryContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
}

export function createApplicationRegistry(
  context: ApplicationRegistryContext,
  by: Actor,
): ApplicationRegistry {
  const { storage, keyring, clock, activity } = context
  const audit = (event: string, clientId?: string, detail?: string) =>
    activity.audit({ event, ...by, clientId, detail })

  const deletionTime = () => clock.now() + deletionGraceDays * 86_400_000

  async function update(id: string, changes: ApplicationChanges, revision: number): Promise<void> {
    if (await storage.applications.update(id, changes, revision)) return
    throw new ApplicationChanged(
      'The application was changed in the meantime. Fetch it again, and repeat the change.',
    )
  }

  return {
    ...createCredentialRegistry(context, applicationKeys(storage.applications), audit),
    async createProject(details) {
      const project = { ...details, id: randomUUID(), createdAtMs: clock.now() }
      await storage.projects.create(project)
      audit('project_created', undefined, project.id)
      return project
    },
    async changeProject({ id }, details) {
      await storage.projects.update(id, details)
      audit('project_changed', undefined, id)
    },
    async deleteProject({ id }) {
      await storage.projects.update(id, { deletesAtMs: deletionTime() })
      const clients = await storage.applications.list(id)
      for (const { application } of clients) await storage.applications.revokeTokens(application.id)
      audit('project_deleted', undefined, id)
    },
    async restoreProject({ id }) {
      await storage.projects.update(id, { deletesAtMs: null })
      audit('project_restored', undefined, id)
    },
    async moveApplication({ id, clientId }, { id: projectId }) {
      await storage.applications.update(id, { projectId })
      audit('application_moved', clientId, projectId)
    },
    async deleteApplication({ id, clientId }) {
      await storage.applications.update(id, { deletesAtMs: deletionTime() })
      await storage.applications.revokeTokens(id)
      audit('application_deleted', clientId)
    },
    async restoreApplication({ id, clientId }) {
      await storage.applications.update(id, { deletesAtMs: null })
      audit('application_restored', clientId)
    },
    async createApplication(details, id = randomUUID()) {
      const nowMs = clock.now()
      const clientId = createClientId()
      const application = {
        ...details,
        id,
        clientId,
        createdAtMs: nowMs,
        revision: 0,
        tokenGeneration: 0,
        keys: [],
      }
      const clientSecret = createClientSecret()
      const secret = storedSecret(keyring, { ownerId: id, value: clientSecret, nowMs })
      if (!(await storage.applications.create(application, [secret]))) throw new AlreadyExists()
      audit('application_created', clientId)
      return { application, clientSecret }
    },
    async changeSettings({ id, clientId, ...approved }, settings, byAdministrator) {
      const { products, lifetimeSeconds, ...others } = settings
      const isRequest = !byAdministrator && approved.status === 'approved' && widens(settings, approved)
      const changes = isRequest
        ? { ...others, requested: { products, lifetimeSeconds } }
        : { ...settings, requested: null }
      await update(id, changes, approved.revision)
      audit(isRequest ? 'approval_requested' : 'application_changed', clientId)
    },
    async approve(application, revision) {
      const { id, clientId, requested } = application
      await update(id, { ...requested, requested: null, status: 'approved' }, revision)
      audit('application_approved', clientId)
    },
    async decline({ id, clientId }) {
      await storage.applications.update(id, { requested: null })
      audit('request_declined', clientId)
    },
    async revoke({ id, clientId }) {
      await storage.applications.update(id, { status: 'revoked' })
      await storage.applications.revokeTokens(id)
      audit('application_revoked', clientId)
    },
    async revokeTokens({ id, clientId }) {
      await storage.applications.revokeTokens(id)
      audit('tokens_revoked', clientId)
    },
  }
}

function widens(settings: Approval, approved: Approval): boolean {
  return (
    settings.lifetimeSeconds > approved.lifetimeSeconds ||
    settings.products.some((product) => !approved.products.includes(product))
  )
}
