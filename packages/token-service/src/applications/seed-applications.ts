import { hash, randomUUID } from 'node:crypto'
import type { Keyring } from '../keys/keyring.ts'
import type { Storage } from '../storage/storage.ts'
import type { ResolvedApplication } from './application-options.ts'
import { storedSecret } from './client-secret.ts'

export interface SeedContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly nowMs: number
  /** Whether those that are there already are put back to what they are given as. @default false */
  readonly replace?: boolean | undefined
}

/** Creates the applications that are not there yet; those that are stay as they are, unless `replace` is set. */
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
    const { name, clientId, clientSecret, clientSecretExpiresAt: ends } = options
    const { status, products, level, responseForm, lifetimeSeconds } = options
    const settings = { name, status, products, level, responseForm, lifetimeSeconds }
    const application = { id: randomUUID(), projectId, clientId, createdAtMs: nowMs, ...settings }
    const expiresAtMs = ends === undefined ? undefined : Date.parse(ends)
    const secretOf = (applicationId: string) =>
      storedSecret(keyring, { applicationId, value: clientSecret, nowMs, expiresAtMs })

    const created = await storage.applications.create(application, [secretOf(application.id)])
    const there = created || !replace ? undefined : await storage.applications.findClient(clientId)
    if (!there) continue
    await storage.applications.update(there.application.id, settings)
    for (const { id } of there.secrets) await storage.applications.removeSecret(id)
    await storage.applications.addSecret(secretOf(there.application.id))
  }
}

/** The same for the same name, so that instances that start at once make one project. */
function projectIdOf(name: string): string {
  const digits = hash('sha256', `project ${name}`).slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
