import { randomBytes, randomUUID } from 'node:crypto'
import type { Keyring } from '../../runtime/keyring.ts'
import { UsageError } from '../../runtime/usage-error.ts'
import { changesOf, type Act } from '../../storage/act.ts'
import {
  isBeingDeleted,
  type PublicKey,
  type RegisteredClient,
  type StoredSecret,
} from '../../storage/application.ts'
import { applicationStorage } from '../applications/storage.ts'
import { resourceServerStorage } from '../resource-servers/storage.ts'
import { secretStorage } from './storage.ts'
import { parsePublicKeys, publicKeys, withKeys, withNewName, withoutKey } from './public-keys.ts'

/** Something with this name already exists. */
export class AlreadyExists extends Error {}

/** Something that is being deleted cannot be changed. */
export class BeingDeleted extends UsageError {
  constructor(what: 'application' | 'project') {
    super(`The ${what} is being deleted. Restore it first.`)
  }
}

/** The two kinds of clients, as they are stored. */
type ClientKind = 'applications' | 'resourceServers'

/** An application or a resource server, and its secrets. */
export interface CredentialOwner {
  readonly kind: ClientKind
  readonly id: string
  readonly clientId: string
  readonly secrets: readonly StoredSecret[]
}

/** Returns a new secret, once; the existing ones expire after `overlapMs`, which may be `Infinity`, or earlier. */
export async function rotateSecret(
  act: Act,
  owner: CredentialOwner,
  { overlapMs }: { readonly overlapMs: number },
): Promise<{ readonly id: string; readonly clientSecret: string }> {
  await keysOf(act, owner)
  const secrets = secretStorage(act)
  const nowMs = act.clock.now()
  const clientSecret = createClientSecret()
  const secret = storedSecret(act.keyring, { ownerId: owner.id, value: clientSecret, nowMs })
  await secrets.add(secret)
  await secrets.expireOthers(secret, nowMs + overlapMs)
  const expiry = overlapMs < Infinity ? { existingSecretsExpireAtMs: nowMs + overlapMs } : {}
  act.audit('secret_rotated', { clientId: owner.clientId, detail: secret.id, changes: changesOf(expiry) })
  return { id: secret.id, clientSecret }
}

/** Does nothing if the client has no secret with that ID. */
export async function revokeSecret(
  act: Act,
  { clientId, secrets }: CredentialOwner,
  secretId: string,
): Promise<void> {
  // The ID comes from a form.
  const secret = secrets.find(({ id }) => id === secretId)
  if (!secret) return
  await endSecret(act, secret)
  act.audit('secret_revoked', { clientId, detail: secretId })
}

/**
 * Registers public keys for `private_key_jwt`: PEM, a JWK, a JWK set, or the https URL of a JWK set. Without a `name`,
 * each is named after its own ID, thumbprint or URL.
 *
 * @throws {@link UsageError} if the text contains no usable public key
 */
export async function addKeys(
  act: Act,
  owner: CredentialOwner,
  { key: text, name }: { readonly key: string; readonly name?: string | undefined },
): Promise<readonly PublicKey[]> {
  const added = publicKeys(parsePublicKeys(text), act.clock.now(), name)
  await changeKeys(act, owner, (keys) => {
    for (const key of added) {
      const changes = changesOf({ name: key.name })
      act.audit('key_added', { clientId: owner.clientId, detail: key.id, changes })
    }
    return withKeys(keys, added, act.clock.now())
  })
  return added
}

/** @throws {@link NotFoundError} if there is no key with that ID */
export async function renameKey(
  act: Act,
  owner: CredentialOwner,
  keyId: string,
  name: string,
): Promise<void> {
  await changeKeys(act, owner, (keys) => {
    const changes = changesOf({ name }, { name: keys.find(({ id }) => id === keyId)?.name })
    act.audit('key_renamed', { clientId: owner.clientId, detail: keyId, changes })
    return withNewName(keys, keyId, name)
  })
}

/** Removes the key; tokens that were obtained with it become invalid. */
export async function removeKey(act: Act, owner: CredentialOwner, keyId: string): Promise<void> {
  await changeKeys(act, owner, (keys) => {
    act.audit('key_removed', { clientId: owner.clientId, detail: keyId })
    return withoutKey(keys, keyId, act.clock.now())
  })
}

async function changeKeys(
  act: Act,
  owner: CredentialOwner,
  change: (keys: readonly PublicKey[]) => readonly PublicKey[],
): Promise<void> {
  const keys = await keysOf(act, owner)
  if (!keys) return
  await storeKeys(act, owner, change(keys))
}

/** Replaces the keys of a client. */
export async function storeKeys(
  act: Act,
  { kind, id }: CredentialOwner,
  keys: readonly PublicKey[],
): Promise<void> {
  const clients = kind === 'applications' ? applicationStorage(act) : resourceServerStorage(act)
  await clients.update(id, { keys })
}

/** The keys of the client, if it exists. @throws {@link BeingDeleted} */
async function keysOf(
  act: Act,
  { kind, clientId }: CredentialOwner,
): Promise<readonly PublicKey[] | undefined> {
  if (kind === 'resourceServers') return (await resourceServerStorage(act).find(clientId))?.keys
  const client = await applicationStorage(act).findClient(clientId)
  if (client && isBeingDeleted(client)) throw new BeingDeleted('application')
  return client?.application.keys
}

/** A configured secret is kept as expired, so that the next start does not add it again. */
async function endSecret(act: Act, secret: StoredSecret): Promise<void> {
  const secrets = secretStorage(act)
  await (isConfigured(secret) ? secrets.expire(secret.id, act.clock.now()) : secrets.remove(secret.id))
}

/** Ends every secret and public key of an application. */
export async function endCredentials(
  act: Act,
  { application: { id, clientId, keys }, secrets }: RegisteredClient,
): Promise<void> {
  const nowMs = act.clock.now()
  const isValid = ({ expiresAtMs = Infinity }: StoredSecret | PublicKey) => expiresAtMs > nowMs
  for (const secret of secrets.filter(isValid)) {
    await endSecret(act, secret)
    act.audit('secret_revoked', { clientId, detail: secret.id })
  }
  const ended = keys.filter(isValid)
  if (ended.length === 0) return
  const rest = ended.reduce<readonly PublicKey[]>((all, key) => withoutKey(all, key.id, nowMs), keys)
  await applicationStorage(act).update(id, { keys: rest })
  for (const key of ended) act.audit('key_removed', { clientId, detail: key.id })
}

const prefixLength = 4
const configuredPrefix = 'configured-'

/** 128 random bits in hexadecimal: never starts with `-`, which commands take for a flag. */
export function createClientId(): string {
  return randomBytes(16).toString('hex')
}

/** 256 random bits. */
export function createClientSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** The stored form of a secret. */
export function storedSecret(
  keyring: Keyring,
  { id = randomUUID(), ownerId, value, nowMs, expiresAtMs }: NewSecret,
): StoredSecret {
  const prefix = value.slice(0, Math.min(prefixLength, Math.floor(value.length / 4)))
  return { id, ownerId, ...keyring.hash(value), prefix, createdAtMs: nowMs, expiresAtMs }
}

export interface NewSecret {
  /** @default a random one */
  readonly id?: string | undefined
  readonly ownerId: string
  readonly value: string
  readonly nowMs: number
  readonly expiresAtMs?: number | undefined
}

/** The ID of a secret from the configuration; `text`: what makes it unique. */
export function configuredId(text: string): string {
  return configuredPrefix + text
}

/** Whether a secret is from the configuration. */
export function isConfigured({ id }: Pick<StoredSecret, 'id'>): boolean {
  return id.startsWith(configuredPrefix)
}
