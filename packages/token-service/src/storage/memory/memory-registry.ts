import type { Application, Project, RegisteredClient, StoredSecret } from '../../applications/application.ts'
import type { ActivityBatch, ApplicationStorage, ProjectStorage } from '../storage.ts'

export interface MemoryRegistry {
  readonly projects: ProjectStorage
  readonly applications: ApplicationStorage
  readonly find: (applicationId: string) => Application | undefined
  readonly used: (lastUses: ActivityBatch['lastUses']) => void
}

interface Entry {
  application: Application
  readonly secrets: Map<string, StoredSecret>
}

/** Projects, applications and their secrets, kept in this process. */
export function createMemoryRegistry(): MemoryRegistry {
  const projects = new Map<string, Project>()
  const entries = new Map<string, Entry>()
  const byClientId = new Map<string, Entry>()
  const bySecretId = new Map<string, Entry>()

  function clientOf({ application, secrets }: Entry): RegisteredClient | undefined {
    const project = projects.get(application.projectId)
    return project && { application, project, secrets: [...secrets.values()] }
  }

  function changeSecret(id: string, change: (secret: StoredSecret) => StoredSecret): void {
    const secrets = bySecretId.get(id)?.secrets
    const secret = secrets?.get(id)
    if (secret) secrets?.set(id, change(secret))
  }

  function addSecret(entry: Entry, secret: StoredSecret): void {
    entry.secrets.set(secret.id, secret)
    bySecretId.set(secret.id, entry)
  }

  return {
    find: (applicationId) => entries.get(applicationId)?.application,
    used(lastUses) {
      for (const { secretId, atMs } of lastUses) {
        changeSecret(secretId, (secret) => ({
          ...secret,
          lastUsedAtMs: Math.max(secret.lastUsedAtMs ?? 0, atMs),
        }))
      }
    },
    projects: {
      async list() {
        return [...projects.values()]
      },
      async create(project) {
        if (!projects.has(project.id)) projects.set(project.id, project)
      },
      async update(id, changes) {
        const project = projects.get(id)
        if (project) projects.set(id, { ...project, ...changes })
      },
    },
    applications: {
      async findClient(clientId) {
        const entry = byClientId.get(clientId)
        return entry && clientOf(entry)
      },
      async list(projectId) {
        const own = [...entries.values()].filter(({ application }) => application.projectId === projectId)
        return own.map(clientOf).filter((client) => client !== undefined)
      },
      async create(application, secrets) {
        if (byClientId.has(application.clientId) || entries.has(application.id)) return false
        const entry: Entry = { application, secrets: new Map() }
        entries.set(application.id, entry)
        byClientId.set(application.clientId, entry)
        for (const secret of secrets) addSecret(entry, secret)
        return true
      },
      async update(id, changes) {
        const entry = entries.get(id)
        if (entry) entry.application = { ...entry.application, ...changes }
      },
      async addSecret(secret) {
        const entry = entries.get(secret.applicationId)
        if (entry) addSecret(entry, secret)
      },
      async expireSecret(id, expiresAtMs) {
        changeSecret(id, (secret) => ({ ...secret, expiresAtMs }))
      },
      async removeSecret(id) {
        bySecretId.get(id)?.secrets.delete(id)
        bySecretId.delete(id)
      },
      async keyIds() {
        const secrets = [...entries.values()].flatMap((entry) => [...entry.secrets.values()])
        return [...new Set(secrets.map(({ keyId }) => keyId))]
      },
    },
  }
}
