import type { Clock } from '../runtime/clock.ts'
import type { StoredSecret } from '../storage/application.ts'
import type { PublicKey } from '../storage/public-key.ts'
import type { ApplicationStorage, SecretStorage } from '../storage/storage.ts'
import { changeRepeatedly } from './change-repeatedly.ts'
import { createClientSecret, isConfigured, storedSecret } from './client-secret.ts'
import type { Keyring } from './keyring.ts'
import { parsePublicKeys } from './parse-public-keys.ts'
import { publicKeys, withKeys, withNewName, withoutKey } from './public-keys.ts'

/** Something with this ID already exists: for example, a form was sent twice. */
export class AlreadyExists extends Error {}

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

/** The public keys of one kind of client. */
export interface KeyTable {
  find(
    clientId: string,
  ): Promise<{ readonly keys: readonly PublicKey[]; readonly revision: number } | undefined>
  update(id: string, changes: { readonly keys: readonly PublicKey[] }, revision: number): Promise<boolean>
}

export function applicationKeys(applications: ApplicationStorage): KeyTable {
  return {
    find: async (clientId) => (await applications.findClient(clientId))?.application,
    update: (id, changes, revision) => applications.update(id, changes, revision),
  }
}

export interface CredentialRegistryContext {
  readonly storage: { readonly secrets: SecretStorage }
  readonly keyring: Keyring
  readonly clock: Clock
}

export function createCredentialRegistry(
  { storage: { secrets }, keyring, clock }: CredentialRegistryContext,
  keyTable: KeyTable,
  audit: (event: string, clientId: string, detail: string) => void,
): CredentialRegistry {
  const changeKeys = (
    { id, clientId }: CredentialOwner,
    change: (keys: readonly PublicKey[]) => readonly PublicKey[],
  ) =>
    changeRepeatedly(async () => {
      const client = await keyTable.find(clientId)
      return !client || keyTable.update(id, { keys: change(client.keys) }, client.revision)
    })

  return {
    async rotateSecret(owner, overlapMs, id) {
      const nowMs = clock.now()
      const clientSecret = createClientSecret()
      const secret = storedSecret(keyring, { id, ownerId: owner.id, value: clientSecret, nowMs })
      if (!(await secrets.add(secret))) throw new AlreadyExists()
      const latestMs = nowMs + overlapMs
      const outlasting = owner.secrets.filter(({ expiresAtMs = Infinity }) => expiresAtMs > latestMs)
      for (const each of outlasting) await secrets.expire(each.id, latestMs)
      audit('secret_rotated', owner.clientId, secret.id)
      return clientSecret
    },
    async revokeSecret({ clientId, secrets: own }, secretId) {
      // The ID comes from a form.
      const secret = own.find(({ id }) => id === secretId)
      if (!secret) return
      // A configured secret is kept as expired, so that the next start does not add it again.
      await (isConfigured(secret) ? secrets.expire(secretId, clock.now()) : secrets.remove(secretId))
      audit('secret_revoked', clientId, secretId)
    },
    async addKeys(owner, text, name) {
      const added = publicKeys(parsePublicKeys(text), clock.now(), name)
      await changeKeys(owner, (keys) => withKeys(keys, added))
      for (const { id } of added) audit('key_added', owner.clientId, id)
      return added
    },
    async renameKey(owner, keyId, name) {
      await changeKeys(owner, (keys) => withNewName(keys, keyId, name))
      audit('key_renamed', owner.clientId, keyId)
    },
    async removeKey(owner, keyId) {
      await changeKeys(owner, (keys) => withoutKey(keys, keyId, clock.now()))
      audit('key_removed', owner.clientId, keyId)
    },
  }
}
