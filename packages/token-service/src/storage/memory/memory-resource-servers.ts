import type { ResourceServer } from '../../applications/resource-server.ts'
import type { ResourceServerStorage } from '../storage.ts'

export function createMemoryResourceServers(): ResourceServerStorage {
  const servers = new Map<string, ResourceServer>()
  return {
    find: async (clientId) => servers.get(clientId),
    list: async () => [...servers.values()],
    async create(server) {
      if (servers.has(server.clientId)) return false
      servers.set(server.clientId, server)
      return true
    },
    async update(clientId, changes, revision) {
      const server = servers.get(clientId)
      if (server?.revision !== revision) return false
      servers.set(clientId, { ...server, ...changes, revision: revision + 1 })
      return true
    },
    async remove(clientId) {
      servers.delete(clientId)
    },
  }
}
