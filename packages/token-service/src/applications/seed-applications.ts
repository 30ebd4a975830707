import { randomUUID } from 'node:crypto'
import type { Keyring } from '../keys/keyring.ts'
import type { ApplicationStorage } from '../storage/storage.ts'
import type { ApplicationOptions } from '../token-service-options.ts'
import type { Project } from './application.ts'

const prefixLength = 4

/** Creates the applications that are not there yet; those that are stay as they are. */
export async function seedApplications(
  storage: ApplicationStorage,
  keyring: Keyring,
  applications: readonly ApplicationOptions[],
  nowMs: number,
): Promise<void> {
  for (const options of applications) {
    if (await storage.findClient(options.clientId)) continue
    const project = await projectNamed(storage, options.project ?? 'default', nowMs)
    const id = randomUUID()
    await storage.createApplication({
      id,
      projectId: project.id,
      name: options.name,
      clientId: options.clientId,
      status: options.status ?? 'approved',
      products: [...(options.products ?? [])],
      level: options.level ?? '',
      responseForm: options.responseForm ?? 'products',
      lifetimeSeconds: options.lifetimeSeconds ?? 3600,
      createdAtMs: nowMs,
    })
    await storage.addSecret({
      id: randomUUID(),
      applicationId: id,
      ...keyring.hash(options.clientSecret),
      prefix: options.clientSecret.slice(0, prefixLength),
      createdAtMs: nowMs,
    })
  }
}

async function projectNamed(storage: ApplicationStorage, name: string, nowMs: number): Promise<Project> {
  const known = (await storage.listProjects()).find((project) => project.name === name)
  if (known) return known
  const project = {
    id: randomUUID(),
    name,
    organizationName: 'example-org',
    developerEmail: 'developer@example.com',
    createdAtMs: nowMs,
  }
  await storage.createProject(project)
  return project
}
