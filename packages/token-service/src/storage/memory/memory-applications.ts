import type { Application, Project, RegisteredClient, StoredSecret } from '../../applications/application.ts'
import type { ApplicationStorage } from '../storage.ts'

export function createMemoryApplications(applications: Map<string, Application>): ApplicationStorage {
  const projects = new Map<string, Project>()
  const secrets = new Map<string, StoredSecret>()
  const idsByClientId = new Map<string, string>()

  // The token endpoint reads a client for every token and changes are rare, so the joined view is kept.
  const clients = new Map<string, RegisteredClient>()

  function clientOf(id: string): RegisteredClient | undefined {
    const known = clients.get(id)
    if (known) return known
    const application = applications.get(id)
    const project = application && projects.get(application.projectId)
    if (!project) return undefined
    const own = [...secrets.values()].filter((secret) => secret.applicationId === id)
    const client = { application, project, secrets: own }
    clients.set(id, client)
    return client
  }

  return {
    async findClient(clientId) {
      const id = idsByClientId.get(clientId)
      return id === undefined ? undefined : clientOf(id)
    },
    async listProjects() {
      return [...projects.values()]
    },
    async createProject(project) {
      projects.set(project.id, project)
    },
    async listClients(projectId) {
      const own = [...applications.values()].filter((application) => application.projectId === projectId)
      return own.map(({ id }) => clientOf(id)).filter((client) => client !== undefined)
    },
    async createApplication(application) {
      if (idsByClientId.has(application.clientId)) {
        throw new Error(`There is an application with the client ID ${application.clientId} already.`)
      }
      applications.set(application.id, application)
      idsByClientId.set(application.clientId, application.id)
    },
    async updateApplication(id, changes) {
      const application = applications.get(id)
      if (!application) return
      applications.set(id, { ...application, ...changes })
      clients.delete(id)
    },
    async addSecret(secret) {
      secrets.set(secret.id, secret)
      clients.delete(secret.applicationId)
    },
    async removeSecret(id) {
      const secret = secrets.get(id)
      if (!secret) return
      secrets.delete(id)
      clients.delete(secret.applicationId)
    },
  }
}
