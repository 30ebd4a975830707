import { randomUUID } from 'node:crypto'
import { NotFoundError } from '../../runtime/usage-error.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import type { ResourceServer, Storage } from '../../storage/storage.ts'
import type { RegistryContext } from '../acts.ts'
import { changesOf } from '../../storage/act.ts'
import { AlreadyExists, createClientId, createClientSecret, storedSecret } from '../credentials/acts.ts'

/**
 * Creates and changes the APIs that may introspect tokens, while the service runs; each change is written to the audit
 * log.
 */
export interface ResourceServerRegistry {
  /** Throws a `NotFoundError` if no resource server has that client ID. */
  find(clientId: string): Promise<ResourceServer>
  /** Returns the secret, once. Throws {@link AlreadyExists} if there is one with that `id`. */
  create(name: string, id?: string): Promise<{ resourceServer: ResourceServer; clientSecret: string }>
  rename(server: ResourceServer, name: string): Promise<void>
  /** A configured resource server is created again at the next start. */
  remove(server: ResourceServer): Promise<void>
}

export function createResourceServerRegistry(
  context: RegistryContext & { readonly storage: Pick<Storage, 'resourceServers'> },
  by: Actor,
): ResourceServerRegistry {
  const { act, keyring, clock, storage } = context

  return {
    async find(clientId) {
      const server = await storage.resourceServers.find(clientId)
      if (!server) throw new NotFoundError(`There is no resource server with the client ID "${clientId}".`)
      return server
    },
    create: (name, id = randomUUID()) =>
      act(by, async ({ resourceServers }, audit) => {
        const nowMs = clock.now()
        const clientSecret = createClientSecret()
        const secrets = [storedSecret(keyring, { ownerId: id, value: clientSecret, nowMs })]
        const clientId = createClientId()
        const resourceServer = { id, clientId, name, createdAtMs: nowMs, secrets, keys: [], revision: 0 }
        if (!(await resourceServers.create(resourceServer))) throw new AlreadyExists()
        audit('resource_server_created', { clientId, changes: changesOf({ name }) })
        return { resourceServer, clientSecret }
      }),
    rename: ({ id, clientId }, name) =>
      act(by, async ({ resourceServers }, audit) => {
        const current = await resourceServers.find(clientId)
        await resourceServers.update(id, { name })
        audit('resource_server_changed', { clientId, changes: changesOf({ name }, { name: current?.name }) })
      }),
    remove: ({ id, clientId, name }) =>
      act(by, async ({ resourceServers }, audit) => {
        await resourceServers.remove(id)
        audit('resource_server_removed', { clientId, detail: name })
      }),
  }
}
