import { hash, randomUUID } from 'node:crypto'
import type { Keyring } from '../keys/keyring.ts'
import type { Storage } from '../storage/storage.ts'
import type { ResolvedApplication } from './application-options.ts'
import { storedSecret } from './client-secret.ts'

export interface SeedContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly nowMs: number
  /** Restores the applications that exist to their configuration. @default false */
  readonly replace?: boolean | undefined
}

/** Creates the applications that do not exist; the others stay unchanged, unless `replace` is set. */
export async function seedApplications(
  applications: readonly ResolvedApplication[],
  { storage, keyring, nowMs, replace = false }: SeedContext,
): Promise<void> {
  for (const options of applications) {
    const projectId = projectIdOf(options.project)
    await storage.projects.create({
      id: projectId,
      name: options.project,
      organizationName: options.organizationName,
      developerEmail: options.developerEmail,
      createdAtMs: nowMs,
    })
    const { name, clientId, clientSecret, clientSecretExpiresAt } = options
    const { status, products, level, responseForm, lifetimeSeconds } = options
    const settings = { name, status, products, level, responseForm, lifetimeSeconds }
    const application = { id: randomUUID(), projectId, clientId, createdAtMs: nowMs, ...settings }
    const expiresAtMs = clientSecretExpiresAt === undefined ? undefined : Date.parse(clientSecretExpiresAt)
    const secretOf = (applicationId: string) =>
      storedSecret(keyring, { applicationId, value: clientSecret, nowMs, expiresAtMs })

    const created = await storage.applications.create(application, [secretOf(application.id)])
    const existing = created || !replace ? undefined : await storage.applications.findClient(clientId)
    if (!existing) continue
    await storage.applications.update(existing.application.id, settings)
    for (const { id } of existing.secrets) await storage.applications.removeSecret(id)
    await storage.applications.addSecret(secretOf(existing.application.id))
  }
}

/** Derived from the name: instances that start at the same time create one project. */
function projectIdOf(name: string): string {
  const digits = hash('sha256', `project ${name}`).slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
