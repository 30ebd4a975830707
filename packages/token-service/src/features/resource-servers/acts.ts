import { randomUUID } from 'node:crypto'
import { NotFoundError } from '../../runtime/usage-error.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import type { ResourceServer, ResourceServerStorage } from './storage.ts'
import type { RegistryContext } from '../acts.ts'
import { changesOf } from '../../storage/act.ts'
import { AlreadyExists, createClientId, createClientSecret, storedSecret } from '../credentials/acts.ts'

type ResourceServerSettings = Pick<ResourceServer, 'name' | 'audiences'>
interface ResourceServerChanges {
  readonly name?: string | undefined
  readonly audiences?: readonly string[] | null | undefined
}

/**
 * Creates and changes the APIs that may introspect tokens, while the service runs; each change is written to the audit
 * log.
 */
export interface ResourceServerRegistry {
  /** Throws a `NotFoundError` if no resource server has that client ID. */
  find(clientId: string): Promise<ResourceServer>
  /** Returns the secret, once. Throws {@link AlreadyExists} if there is one with that `id`. */
  create(
    settings: ResourceServerSettings,
    id?: string,
  ): Promise<{ resourceServer: ResourceServer; clientSecret: string }>
  /** `audiences`: `null` ends the restriction. */
  change(server: ResourceServer, changes: ResourceServerChanges): Promise<void>
  /** A configured resource server is created again at the next start. */
  remove(server: ResourceServer): Promise<void>
}

export function createResourceServerRegistry(
  context: RegistryContext & { readonly storage: { readonly resourceServers: ResourceServerStorage } },
  by: Actor,
): ResourceServerRegistry {
  const { act, keyring, clock, storage } = context

  return {
    async find(clientId) {
      const server = await storage.resourceServers.find(clientId)
      if (!server) throw new NotFoundError(`There is no resource server with the client ID "${clientId}".`)
      return server
    },
    create: ({ name, audiences }, id = randomUUID()) =>
      act(by, async ({ resourceServers }, audit) => {
        const nowMs = clock.now()
        const clientSecret = createClientSecret()
        const secrets = [storedSecret(keyring, { ownerId: id, value: clientSecret, nowMs })]
        const clientId = createClientId()
        const settings = { name, ...(audiences && { audiences }) }
        const resourceServer = {
          id,
          clientId,
          ...settings,
          createdAtMs: nowMs,
          secrets,
          keys: [],
          revision: 0,
        }
        if (!(await resourceServers.create(resourceServer))) throw new AlreadyExists()
        audit('resource_server_created', { clientId, changes: changesOf(settings) })
        return { resourceServer, clientSecret }
      }),
    change: ({ id, clientId }, { name, audiences }) =>
      act(by, async ({ resourceServers }, audit) => {
        const current = await resourceServers.find(clientId)
        const changes = { ...(name !== undefined && { name }), ...(audiences !== undefined && { audiences }) }
        await resourceServers.update(id, changes)
        audit('resource_server_changed', { clientId, changes: changesOf(changes, current) })
      }),
    remove: ({ id, clientId, name }) =>
      act(by, async ({ resourceServers }, audit) => {
        await resourceServers.remove(id)
        audit('resource_server_removed', { clientId, detail: name })
      }),
  }
}
