import { randomUUID } from 'node:crypto'
import { NotFoundError } from '../runtime/usage-error.ts'
import type { ResourceServer } from '../storage/resource-server.ts'
import type { Actor, ApplicationRegistryContext } from './application-registry.ts'
import { createClientId, createClientSecret, storedSecret } from './client-secret.ts'
import { AlreadyExists, createCredentialRegistry, type CredentialRegistry } from './credential-registry.ts'

/**
 * Creates and changes the APIs that may introspect tokens, while the service runs; each change is written to the audit
 * log.
 */
export interface ResourceServerRegistry extends CredentialRegistry {
  list(): Promise<ResourceServer[]>
  /** Throws a `NotFoundError` if there is none with that client ID. */
  find(clientId: string): Promise<ResourceServer>
  /** Returns the secret, once. Throws {@link AlreadyExists} if there is one with that `id`. */
  create(name: string, id?: string): Promise<{ resourceServer: ResourceServer; clientSecret: string }>
  rename(server: ResourceServer, name: string): Promise<void>
  /** A configured resource server is created again at the next start. */
  remove(server: ResourceServer): Promise<void>
}

export function createResourceServerRegistry(
  context: ApplicationRegistryContext,
  by: Actor,
): ResourceServerRegistry {
  const { resourceServers } = context.storage
  const { keyring, clock, activity } = context
  const audit = (event: string, clientId: string, detail?: string) =>
    activity.audit({ event, ...by, clientId, detail })

  return {
    ...createCredentialRegistry(context, resourceServers, audit),
    list: () => resourceServers.list(),
    async find(clientId) {
      const server = await resourceServers.find(clientId)
      if (!server) throw new NotFoundError(`There is no resource server with the client ID "${clientId}".`)
      return server
    },
    async create(name, id = randomUUID()) {
      const nowMs = clock.now()
      const clientSecret = createClientSecret()
      const secrets = [storedSecret(keyring, { ownerId: id, value: clientSecret, nowMs })]
      const clientId = createClientId()
      const resourceServer = { id, clientId, name, createdAtMs: nowMs, secrets, keys: [], revision: 0 }
      if (!(await resourceServers.create(resourceServer))) throw new AlreadyExists()
      audit('resource_server_created', clientId)
      return { resourceServer, clientSecret }
    },
    async rename({ id, clientId }, name) {
      await resourceServers.update(id, { name })
      audit('resource_server_changed', clientId)
    },
    async remove({ id, clientId }) {
      await resourceServers.remove(id)
      audit('resource_server_removed', clientId)
    },
  }
}
