import { hash, randomUUID } from 'node:crypto'
import type { Keyring } from '../keys/keyring.ts'
import type { Storage } from '../storage/storage.ts'
import type { ResolvedApplication } from './application-options.ts'
import { storedSecret } from './client-secret.ts'

/** Creates the applications that are not there yet; those that are stay as they are. */
export async function seedApplications(
  storage: Storage,
  keyring: Keyring,
  applications: readonly ResolvedApplication[],
  nowMs: number,
): Promise<void> {
  for (const options of applications) {
    const { name, clientId, status, level, responseForm, lifetimeSeconds } = options
    const projectId = projectIdOf(options.project)
    await storage.projects.create({
      id: projectId,
      name: options.project,
      organizationName: options.organizationName,
      developerEmail: options.developerEmail,
      createdAtMs: nowMs,
    })
    const id = randomUUID()
    const expiresAt = options.clientSecretExpiresAt
    const expiresAtMs = expiresAt === undefined ? undefined : Date.parse(expiresAt)
    await storage.applications.create(
      {
        id,
        projectId,
        name,
        clientId,
        status,
        products: options.products,
        level,
        responseForm,
        lifetimeSeconds,
        createdAtMs: nowMs,
      },
      [storedSecret(keyring, { applicationId: id, value: options.clientSecret, nowMs, expiresAtMs })],
    )
  }
}

/** The same for the same name, so that instances that start at once make one project. */
function projectIdOf(name: string): string {
  const digits = hash('sha256', `project ${name}`).slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
