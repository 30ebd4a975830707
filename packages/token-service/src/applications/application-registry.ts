import { randomUUID } from 'node:crypto'
import type { ActivityRecorder } from '../activity/activity-recorder.ts'
import type { Clock } from '../clock.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { ApplicationChanges, Storage } from '../storage/storage.ts'
import type { Application, Project, RegisteredClient } from './application.ts'
import { createClientId, createClientSecret, storedSecret } from './client-secret.ts'

export type NewApplication = Omit<Application, 'id' | 'clientId' | 'createdAtMs'>

/** The same was asked for before, as by a form that is sent twice. */
export class AlreadyDone extends Error {}

/** What owners do with their projects, applications and secrets; each step leaves a trace in the audit log. */
export interface ApplicationRegistry {
  createProject(project: Omit<Project, 'id' | 'createdAtMs'>): Promise<Project>
  /** The secret is told this once. Throws {@link AlreadyDone} if there is an application of that `id`. */
  createApplication(
    application: NewApplication,
    id?: string,
  ): Promise<{ application: Application; clientSecret: string }>
  changeApplication(application: Application, changes: ApplicationChanges): Promise<void>
  /**
   * A new secret, told this once; those there are end after `overlapMs`, if they would not before. Throws
   * {@link AlreadyDone} if the client has a secret of that id.
   */
  rotateSecret(client: RegisteredClient, overlapMs: number, secretId?: string): Promise<string>
  revokeSecret(client: RegisteredClient, secretId: string): Promise<void>
}

export interface ApplicationRegistryContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
}

export function createApplicationRegistry(context: ApplicationRegistryContext): ApplicationRegistry {
  const { storage, keyring, clock, activity } = context
  return {
    async createProject(details) {
      const project = { ...details, id: randomUUID(), createdAtMs: clock.now() }
      await storage.projects.create(project)
      activity.audit({ event: 'project_created', detail: project.id })
      return project
    },
    async createApplication(details, id = randomUUID()) {
      const nowMs = clock.now()
      const clientId = createClientId()
      const application = { ...details, id, clientId, createdAtMs: nowMs }
      const clientSecret = createClientSecret()
      const secret = storedSecret(keyring, { applicationId: application.id, value: clientSecret, nowMs })
      if (!(await storage.applications.create(application, [secret]))) throw new AlreadyDone()
      activity.audit({ event: 'application_created', clientId })
      return { application, clientSecret }
    },
    async changeApplication({ id, clientId }, changes) {
      await storage.applications.update(id, changes)
      const detail = changes.status ?? Object.keys(changes).join(', ')
      activity.audit({ event: 'application_changed', clientId, detail })
    },
    async rotateSecret({ application, secrets }, overlapMs, secretId = randomUUID()) {
      if (secrets.some(({ id }) => id === secretId)) throw new AlreadyDone()
      const nowMs = clock.now()
      const clientSecret = createClientSecret()
      const kept = storedSecret(keyring, { applicationId: application.id, value: clientSecret, nowMs })
      const secret = { ...kept, id: secretId }
      await storage.applications.addSecret(secret)
      for (const { id, expiresAtMs = Infinity } of secrets) {
        const endsAtMs = nowMs + overlapMs
        if (endsAtMs < expiresAtMs) await storage.applications.expireSecret(id, endsAtMs)
      }
      activity.audit({ event: 'secret_rotated', clientId: application.clientId, detail: secret.id })
      return clientSecret
    },
    async revokeSecret({ application, secrets }, secretId) {
      // Only one of its own: the id comes out of a form.
      if (!secrets.some(({ id }) => id === secretId)) return
      await storage.applications.removeSecret(secretId)
      activity.audit({ event: 'secret_revoked', clientId: application.clientId, detail: secretId })
    },
  }
}
