import { randomUUID } from 'node:crypto'
import type { ResourceServer, ResourceServerSecret } from '../storage/resource-server.ts'
import type { PublicKey } from '../storage/public-key.ts'
import { NotFoundError } from '../runtime/usage-error.ts'
import { AlreadyExists, type Actor, type ApplicationRegistryContext } from './application-registry.ts'
import { changeRepeatedly } from './change-repeatedly.ts'
import { createClientId, createClientSecret, storedSecret } from './client-secret.ts'
import { createKeyRegistry } from './key-registry.ts'

/**
 * Creates and changes the APIs that may introspect tokens, while the service runs; each change is written to the audit
 * log. Methods throw a `UsageError` if there is no resource server with that client ID.
 */
export interface ResourceServerRegistry {
  list(): Promise<ResourceServer[]>
  find(clientId: string): Promise<ResourceServer>
  /** Returns the secret, once. `secretId` is its ID. Throws {@link AlreadyExists} if a secret has that ID. */
  create(name: string, secretId?: string): Promise<{ resourceServer: ResourceServer; clientSecret: string }>
  rename(clientId: string, name: string): Promise<void>
  /** Returns a new secret, once; the existing ones expire after `overlapMs`, which may be `Infinity`, or earlier. */
  rotateSecret(clientId: string, overlapMs: number, secretId?: string): Promise<string>
  revokeSecret(clientId: string, secretId: string): Promise<void>
  /**
   * Registers public keys for `private_key_jwt`: PEM, a JWK, a JWK set, or the https URL of a JWK set. Without a `name`,
   * each is named after its own ID, thumbprint or URL.
   */
  addKeys(clientId: string, text: string, name?: string): Promise<readonly PublicKey[]>
  renameKey(clientId: string, keyId: string, name: string): Promise<void>
  removeKey(clientId: string, keyId: string): Promise<void>
  /** A configured resource server is created again at the next start. */
  remove(clientId: string): Promise<void>
}

type Changes = Partial<Pick<ResourceServer, 'name' | 'secrets' | 'keys'>>

export function createResourceServerRegistry(
  { storage: { resourceServers }, keyring, clock, activity }: ApplicationRegistryContext,
  by: Actor,
): ResourceServerRegistry {
  const audit = (event: string, clientId: string, detail?: string) =>
    activity.audit({ event, ...by, clientId, detail })

  function newSecret(nowMs: number, id: string) {
    const clientSecret = createClientSecret()
    const { applicationId: _, ...secret } = storedSecret(keyring, {
      applicationId: '',
      value: clientSecret,
      nowMs,
    })
    return { clientSecret, secret: { ...secret, id } }
  }

  async function find(clientId: string): Promise<ResourceServer> {
    const server = await resourceServers.find(clientId)
    if (!server) throw new NotFoundError(`There is no resource server with the client ID "${clientId}".`)
    return server
  }

  async function change(clientId: string, changes: (server: ResourceServer) => Changes): Promise<void> {
    await changeRepeatedly(async () => {
      const server = await find(clientId)
      return resourceServers.update(clientId, changes(server), server.revision)
    })
  }

  return {
    list: () => resourceServers.list(),
    find,
    async create(name, secretId = randomUUID()) {
      const nowMs = clock.now()
      const all = await resourceServers.list()
      if (all.some(({ secrets }) => hasSecret(secrets, secretId))) throw new AlreadyExists()
      const { clientSecret, secret } = newSecret(nowMs, secretId)
      const clientId = createClientId()
      const resourceServer = { clientId, name, createdAtMs: nowMs, secrets: [secret], keys: [], revision: 0 }
      await resourceServers.create(resourceServer)
      audit('resource_server_created', clientId)
      return { resourceServer, clientSecret }
    },
    async rename(clientId, name) {
      await change(clientId, () => ({ name }))
      audit('resource_server_changed', clientId)
    },
    async rotateSecret(clientId, overlapMs, secretId = randomUUID()) {
      const nowMs = clock.now()
      const { clientSecret, secret } = newSecret(nowMs, secretId)
      const latest = nowMs + overlapMs
      await change(clientId, ({ secrets }) => {
        if (hasSecret(secrets, secretId)) throw new AlreadyExists()
        const valid = secrets.filter((each) => each.configured || (each.expiresAtMs ?? Infinity) > nowMs)
        const ending = valid.map((each) =>
          latest < (each.expiresAtMs ?? Infinity) ? { ...each, expiresAtMs: latest } : each,
        )
        return { secrets: [...ending, secret] }
      })
      audit('secret_rotated', clientId, secret.id)
      return clientSecret
    },
    async revokeSecret(clientId, secretId) {
      const nowMs = clock.now()
      await change(clientId, ({ secrets }) => ({
        secrets: secrets.flatMap((secret) => {
          if (secret.id !== secretId) return [secret]
          // A configured secret is kept as expired, so that the next start does not add it again.
          return secret.configured ? [{ ...secret, expiresAtMs: nowMs }] : []
        }),
      }))
      audit('secret_revoked', clientId, secretId)
    },
    ...createKeyRegistry(
      (clientId, changed) => change(clientId, ({ keys }) => ({ keys: changed(keys) })),
      audit,
      clock,
    ),
    async remove(clientId) {
      await find(clientId)
      await resourceServers.remove(clientId)
      audit('resource_server_removed', clientId)
    },
  }
}

function hasSecret(secrets: readonly ResourceServerSecret[], secretId: string): boolean {
  return secrets.some(({ id }) => id === secretId)
}
