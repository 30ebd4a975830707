import type { Clock } from '../runtime/clock.ts'
import { UsageError } from '../runtime/usage-error.ts'
import {
  isBeingDeleted,
  type PublicKey,
  type RegisteredClient,
  type StoredSecret,
} from '../storage/application.ts'
import type { Actor } from '../storage/audit-storage.ts'
import type { SecretStorage, Transaction } from '../storage/storage.ts'
import { changesOf, type Audit } from '../storage/act.ts'
import { type Act } from './acts.ts'
import { createClientSecret, isConfigured, storedSecret } from './client-secret.ts'
import type { Keyring } from '../runtime/keyring.ts'
import { parsePublicKeys } from './parse-public-keys.ts'
import { publicKeys, withKeys, withNewName, withoutKey } from './public-keys.ts'

/** What the registries of both kinds of client work with. */
export interface RegistryContext {
  readonly act: Act
  readonly keyring: Keyring
  readonly clock: Clock
}

/** Something with this ID already exists: for example, a form was sent twice. */
export class AlreadyExists extends Error {}

/** Something that is being deleted cannot be changed. */
export class BeingDeleted extends UsageError {
  constructor(what: 'application' | 'project') {
    super(`The ${what} is being deleted. Restore it first.`)
  }
}

/** An application or a resource server, and its secrets. */
export interface CredentialOwner {
  readonly id: string
  readonly clientId: string
  readonly secrets: readonly StoredSecret[]
}

/** Changes the secrets and public keys of clients; each change is written to the audit log. */
export interface CredentialRegistry {
  /**
   * Returns a new secret, once; the existing ones expire after `overlapMs`, which may be `Infinity`, or earlier. Throws
   * {@link AlreadyExists} if there is a secret with that ID.
   */
  rotateSecret(owner: CredentialOwner, overlapMs: number, secretId?: string): Promise<string>
  /** Does nothing if the client has no secret with that ID. */
  revokeSecret(owner: CredentialOwner, secretId: string): Promise<void>
  /**
   * Registers public keys for `private_key_jwt`: PEM, a JWK, a JWK set, or the https URL of a JWK set. Without a `name`,
   * each is named after its own ID, thumbprint or URL. Throws a `UsageError` if the text contains no usable public key.
   */
  addKeys(owner: CredentialOwner, text: string, name?: string): Promise<readonly PublicKey[]>
  /** Throws a `NotFoundError` if there is no key with that ID. */
  renameKey(owner: CredentialOwner, keyId: string, name: string): Promise<void>
  /** Removes the key; tokens that were obtained with it become invalid. */
  removeKey(owner: CredentialOwner, keyId: string): Promise<void>
}

/** The two kinds of clients, as they are stored. */
export type ClientKind = 'applications' | 'resourceServers'

export function createCredentialRegistry(
  { act, keyring, clock }: RegistryContext,
  by: Actor,
  kind: ClientKind,
): CredentialRegistry {
  const changeKeys = (
    { id, clientId }: CredentialOwner,
    change: (keys: readonly PublicKey[], audit: Audit) => readonly PublicKey[],
  ) =>
    act(by, async (stored, audit) => {
      const client = await clientOf(stored, kind, clientId)
      if (client) await stored[kind].update(id, { keys: change(client.keys, audit) })
    })

  return {
    rotateSecret: (owner, overlapMs, id) =>
      act(by, async (stored, audit) => {
        await clientOf(stored, kind, owner.clientId)
        const { secrets } = stored
        const nowMs = clock.now()
        const clientSecret = createClientSecret()
        const secret = storedSecret(keyring, { id, ownerId: owner.id, value: clientSecret, nowMs })
        if (!(await secrets.add(secret))) throw new AlreadyExists()
        await secrets.expireOthers(secret, nowMs + overlapMs)
        const expiry = overlapMs < Infinity ? { existingSecretsExpireAtMs: nowMs + overlapMs } : {}
        audit('secret_rotated', { clientId: owner.clientId, detail: secret.id, changes: changesOf(expiry) })
        return clientSecret
      }),
    revokeSecret: ({ clientId, secrets: own }, secretId) =>
      act(by, async ({ secrets }, audit) => {
        // The ID comes from a form.
        const secret = own.find(({ id }) => id === secretId)
        if (!secret) return
        await endSecret(secret, secrets, clock.now())
        audit('secret_revoked', { clientId, detail: secretId })
      }),
    async addKeys(owner, text, name) {
      const added = publicKeys(parsePublicKeys(text), clock.now(), name)
      await changeKeys(owner, (keys, audit) => {
        for (const key of added)
          audit('key_added', {
            clientId: owner.clientId,
            detail: key.id,
            changes: changesOf({ name: key.name }),
          })
        return withKeys(keys, added)
      })
      return added
    },
    renameKey: ({ clientId, ...owner }, keyId, name) =>
      changeKeys({ clientId, ...owner }, (keys, audit) => {
        const changes = changesOf({ name }, { name: keys.find(({ id }) => id === keyId)?.name })
        audit('key_renamed', { clientId, detail: keyId, changes })
        return withNewName(keys, keyId, name)
      }),
    removeKey: ({ clientId, ...owner }, keyId) =>
      changeKeys({ clientId, ...owner }, (keys, audit) => {
        audit('key_removed', { clientId, detail: keyId })
        return withoutKey(keys, keyId, clock.now())
      }),
  }
}

/** A configured secret is kept as expired, so that the next start does not add it again. */
async function endSecret(secret: StoredSecret, secrets: SecretStorage, nowMs: number): Promise<void> {
  await (isConfigured(secret) ? secrets.expire(secret.id, nowMs) : secrets.remove(secret.id))
}

/** Ends every secret and public key of an application. */
export async function endCredentials(
  { application: { id, clientId, keys }, secrets }: RegisteredClient,
  stored: Transaction,
  { audit, nowMs }: { readonly audit: Audit; readonly nowMs: number },
): Promise<void> {
  const isValid = ({ expiresAtMs = Infinity }: StoredSecret | PublicKey) => expiresAtMs > nowMs
  for (const secret of secrets.filter(isValid)) {
    await endSecret(secret, stored.secrets, nowMs)
    audit('secret_revoked', { clientId, detail: secret.id })
  }
  const ended = keys.filter(isValid)
  if (ended.length === 0) return
  const rest = ended.reduce<readonly PublicKey[]>((all, key) => withoutKey(all, key.id, nowMs), keys)
  await stored.applications.update(id, { keys: rest })
  for (const key of ended) audit('key_removed', { clientId, detail: key.id })
}

/** The client, if it exists. @throws {@link BeingDeleted} */
async function clientOf(
  stored: Transaction,
  kind: ClientKind,
  clientId: string,
): Promise<{ readonly keys: readonly PublicKey[] } | undefined> {
  if (kind === 'resourceServers') return stored.resourceServers.find(clientId)
  const client = await stored.applications.findClient(clientId)
  if (client && isBeingDeleted(client)) throw new BeingDeleted('application')
  return client?.application
}
