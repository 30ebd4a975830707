import { randomUUID } from 'node:crypto'
import type { ActivityRecorder } from '../activity/activity-recorder.ts'
import type { Clock } from '../platform/clock.ts'
import type { Keyring } from '../keys/keyring.ts'
import type { ApplicationChanges, Storage } from '../storage/storage.ts'
import type { Application, Project, RegisteredClient } from '../applications/application.ts'
import { createClientId, createClientSecret, storedSecret } from './client-secret.ts'

export type NewApplication = Omit<Application, 'id' | 'clientId' | 'createdAtMs'>

/** Something with this ID already exists: for example, a form was sent twice. */
export class AlreadyExists extends Error {}

/** Creates and changes projects, applications and secrets; each change is written to the audit log. */
export interface ApplicationRegistry {
  createProject(project: Omit<Project, 'id' | 'createdAtMs'>): Promise<Project>
  /** The only time the secret is returned. Throws {@link AlreadyExists} if an application has that `id`. */
  createApplication(
    application: NewApplication,
    id?: string,
  ): Promise<{ application: Application; clientSecret: string }>
  changeApplication(application: Application, changes: ApplicationChanges): Promise<void>
  /**
   * Returns a new secret, once; the existing ones expire after `overlapMs`, or earlier. Throws {@link AlreadyExists}
   * if the client has a secret with that ID.
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
      if (!(await storage.applications.create(application, [secret]))) throw new AlreadyExists()
      activity.audit({ event: 'application_created', clientId })
      return { application, clientSecret }
    },
    async changeApplication({ id, clientId }, changes) {
      await storage.applications.update(id, changes)
      const detail = changes.status ?? Object.keys(changes).join(', ')
      activity.audit({ event: 'application_changed', clientId, detail })
    },
    async rotateSecret({ application, secrets }, overlapMs, secretId = randomUUID()) {
      if (secrets.some(({ id }) => id === secretId)) throw new AlreadyExists()
      const nowMs = clock.now()
      const clientSecret = createClientSecret()
      const stored = storedSecret(keyring, { applicationId: application.id, value: clientSecret, nowMs })
      const secret = { ...stored, id: secretId }
      await storage.applications.addSecret(secret)
      for (const { id, expiresAtMs = Infinity } of secrets) {
        const newExpiryMs = nowMs + overlapMs
        if (newExpiryMs < expiresAtMs) await storage.applications.expireSecret(id, newExpiryMs)
      }
      activity.audit({ event: 'secret_rotated', clientId: application.clientId, detail: secret.id })
      return clientSecret
    },
    async revokeSecret({ application, secrets }, secretId) {
      // The ID comes from a form: only this client's own secrets.
      if (!secrets.some(({ id }) => id === secretId)) return
      await storage.applications.removeSecret(secretId)
      activity.audit({ event: 'secret_revoked', clientId: application.clientId, detail: secretId })
    },
  }
}
