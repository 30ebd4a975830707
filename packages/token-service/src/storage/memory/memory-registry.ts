import type { Application, Project, RegisteredClient, StoredSecret } from '../../applications/application.ts'
import type { PublicKey } from '../../keys/public-key.ts'
import type { ApplicationStorage, ProductStorage, ProjectStorage } from '../storage.ts'

export interface MemoryRegistry {
  /** The IDs of all applications, secrets and keys. */
  readonly ids: () => string[]
  readonly projects: ProjectStorage
  readonly products: ProductStorage
  readonly applications: ApplicationStorage
  readonly find: (
    applicationId: string,
    secretId: string,
  ) => { application: Application; secret: StoredSecret | PublicKey } | undefined
}

interface Entry {
  application: Application
  readonly secrets: Map<string, StoredSecret>
}

/** Projects, applications and their secrets, kept in this process. */
export function createMemoryRegistry(projectDeleted: (id: string) => void): MemoryRegistry {
  const projects = new Map<string, Project>()
  const products = new Set<string>()
  const entries = new Map<string, Entry>()
  const byClientId = new Map<string, Entry>()
  const bySecretId = new Map<string, Entry>()

  function clientOf({ application, secrets }: Entry): RegisteredClient | undefined {
    const project = projects.get(application.projectId)
    return project && { application, project, secrets: [...secrets.values()] }
  }

  function clientsOf(projectIds: readonly string[]): RegisteredClient[] {
    const own = [...entries.values()].filter(({ application }) => projectIds.includes(application.projectId))
    return own.map(clientOf).filter((client) => client !== undefined)
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
    ids: () =>
      [...entries.values()].flatMap(({ application, secrets }) => [
        application.id,
        ...secrets.keys(),
        ...application.keys.map(({ id }) => id),
      ]),
    find(applicationId, secretId) {
      const entry = entries.get(applicationId)
      const secret = entry?.secrets.get(secretId) ?? entry?.application.keys.find(({ id }) => id === secretId)
      return entry && secret && { application: entry.application, secret }
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
        if (project) projects.set(id, withChanges(project, changes))
      },
      async purge(nowMs) {
        const isDue = ({ deletesAtMs = Infinity }) => deletesAtMs <= nowMs
        const dueProjects = [...projects.values()].filter(isDue)
        const due = [...entries.values()].filter(
          ({ application }) => isDue(application) || isDue(projects.get(application.projectId) ?? {}),
        )
        for (const { application, secrets } of due) {
          entries.delete(application.id)
          byClientId.delete(application.clientId)
          for (const id of secrets.keys()) bySecretId.delete(id)
        }
        for (const { id } of dueProjects) {
          projects.delete(id)
          projectDeleted(id)
        }
        return due.length + dueProjects.length
      },
    },
    products: {
      list: async () => [...products].sort(),
      async add(names) {
        for (const name of names) products.add(name)
      },
      async remove(name) {
        products.delete(name)
      },
    },
    applications: {
      async findClient(clientId) {
        const entry = byClientId.get(clientId)
        return entry && clientOf(entry)
      },
      list: async (projectId) => clientsOf([projectId]),
      listOf: async (projectIds) => clientsOf(projectIds),
      page: async (limit, afterClientId = '') =>
        clientsOf([...projects.keys()])
          .filter(({ application }) => application.clientId > afterClientId)
          .sort((a, b) => (a.application.clientId < b.application.clientId ? -1 : 1))
          .slice(0, limit),
      awaitingApproval: async () =>
        clientsOf([...projects.keys()]).filter(
          ({ application: { status, requested } }) => status === 'pending' || requested !== undefined,
        ),
      async create(application, secrets) {
        if (byClientId.has(application.clientId) || entries.has(application.id)) return false
        const entry: Entry = { application, secrets: new Map() }
        entries.set(application.id, entry)
        byClientId.set(application.clientId, entry)
        for (const secret of secrets) addSecret(entry, secret)
        return true
      },
      async update(id, { requested, ...changes }, revision) {
        const entry = entries.get(id)
        if (!entry || (revision ?? entry.application.revision) !== entry.application.revision) return false
        const { requested: before, ...application } = withChanges(entry.application, changes)
        const after = requested === undefined ? before : requested
        entry.application = {
          ...application,
          revision: application.revision + 1,
          ...(after && { requested: after }),
        }
        return true
      },
      async revokeTokens(id) {
        const entry = entries.get(id)
        if (!entry) return
        const { tokenGeneration } = entry.application
        entry.application = { ...entry.application, tokenGeneration: tokenGeneration + 1 }
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

/** `null` removes the time of deletion. */
function withChanges<Row extends { readonly deletesAtMs?: number | undefined }>(
  row: Row,
  {
    deletesAtMs,
    ...changes
  }: Partial<Omit<Row, 'deletesAtMs'>> & { deletesAtMs?: number | null | undefined },
): Row {
  const { deletesAtMs: before, ...rest } = row
  const after = deletesAtMs === undefined ? before : deletesAtMs
  return { ...rest, ...changes, ...(after != null && { deletesAtMs: after }) } as Row
}
