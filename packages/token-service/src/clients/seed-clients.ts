import { hash, randomUUID } from 'node:crypto'
import { digest } from '../runtime/digest.ts'
import type { StoredSecret } from '../storage/application.ts'
import type { PublicKey } from '../storage/public-key.ts'
import type { Storage } from '../storage/storage.ts'
import type { ResolvedApplication } from './application-options.ts'
import { changeRepeatedly } from './change-repeatedly.ts'
import { configuredId, isConfigured, storedSecret } from './client-secret.ts'
import { applicationKeys, type CredentialOwner, type KeyTable } from './credential-registry.ts'
import type { Keyring } from './keyring.ts'
import { configuredKeys, withConfiguredKeys, type PublicKeyOptions } from './public-keys.ts'

/** An API that may introspect tokens. It is registered when the service starts. */
export interface ResourceServerOptions extends PublicKeyOptions {
  readonly clientId: string
  /** Required without a public key. */
  readonly clientSecret?: string | undefined
  /** @default its client ID */
  readonly name?: string | undefined
}

export interface SeedContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly nowMs: number
  /** How long a configured secret stays valid after another one has been configured. */
  readonly secretOverlapSeconds: number
  /** Receives a sentence for the log about each secret or key that is replaced or revoked. */
  readonly warn: (message: string) => void
  /** Restores the clients that exist to their configuration. @default false */
  readonly replace?: boolean | undefined
}

/** The secret of a configured client. */
interface ConfiguredClient {
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly clientSecretExpiresAt?: string | undefined
}

/**
 * Creates the applications that do not exist. Of those that exist, only the configured secret and keys are updated,
 * unless `replace` is set.
 */
export async function seedApplications(
  applications: readonly ResolvedApplication[],
  context: SeedContext,
): Promise<void> {
  const { storage, nowMs } = context
  await storage.products.add([...new Set(applications.flatMap(({ products }) => products))])
  for (const options of applications) {
    const projectId = projectIdOf(options.project)
    await storage.projects.create({
      id: projectId,
      name: options.project,
      organizationName: options.organizationName,
      developerEmail: options.developerEmail,
      createdAtMs: nowMs,
    })
    const { name, clientId, status, products, level, responseForm, lifetimeSeconds } = options
    const keys = configuredKeys(options, nowMs)
    const settings = { name, status, products, level, responseForm, lifetimeSeconds, keys }
    const created = {
      id: randomUUID(),
      projectId,
      clientId,
      createdAtMs: nowMs,
      revision: 0,
      tokenGeneration: 0,
    }
    const secrets = configuredSecrets(options, created.id, context)
    if (await storage.applications.create({ ...created, ...settings }, secrets)) continue
    const existing = await storage.applications.findClient(clientId)
    if (!existing) continue
    const owner = { ...existing.application, secrets: existing.secrets }
    if (context.replace) {
      await storage.applications.update(owner.id, { ...settings, requested: null })
      await replaceSecrets(options, owner, context)
    } else {
      await updateSecret(options, owner, context)
      await updateKeys(keys, owner, context, applicationKeys(storage.applications))
    }
  }
}

/** As for applications. */
export async function seedResourceServers(
  servers: readonly ResourceServerOptions[],
  context: SeedContext,
): Promise<void> {
  const { resourceServers } = context.storage
  for (const options of servers) {
    const { clientId, name = clientId } = options
    const keys = configuredKeys(options, context.nowMs)
    const id = randomUUID()
    const secrets = configuredSecrets(options, id, context)
    const created = { id, clientId, name, createdAtMs: context.nowMs, secrets, keys, revision: 0 }
    if (await resourceServers.create(created)) continue
    const existing = await resourceServers.find(clientId)
    if (!existing) continue
    if (context.replace) {
      await resourceServers.update(existing.id, { name, keys })
      await replaceSecrets(options, existing, context)
    } else {
      await updateSecret(options, existing, context)
      await updateKeys(keys, existing, context, resourceServers)
    }
  }
}

async function replaceSecrets(
  options: ConfiguredClient,
  { id, secrets }: CredentialOwner,
  context: SeedContext,
): Promise<void> {
  for (const secret of secrets) await context.storage.secrets.remove(secret.id)
  for (const secret of configuredSecrets(options, id, context)) await context.storage.secrets.add(secret)
}

/** Makes a changed secret valid, and lets the one that was configured before expire. */
async function updateSecret(
  options: ConfiguredClient,
  { id, clientId, secrets }: CredentialOwner,
  context: SeedContext,
): Promise<void> {
  const { storage, keyring, nowMs, secretOverlapSeconds, warn } = context
  const [current] = keyring.matching(secrets, options.clientSecret ?? '')
  if (current && (current.expiresAtMs ?? Infinity) <= nowMs) {
    warn(`The configured secret of "${clientId}" has expired or was revoked. Configure another one.`)
  }
  const added = current ? [] : configuredSecrets(options, id, context)
  for (const secret of added) await storage.secrets.add(secret)
  const endMs = nowMs + secretOverlapSeconds * 1000
  const replaced = secrets.filter(
    (secret) => isConfigured(secret) && secret !== current && (secret.expiresAtMs ?? Infinity) > endMs,
  )
  for (const secret of replaced) await storage.secrets.expire(secret.id, endMs)
  if (added.length + replaced.length === 0) return
  const end = replaced.length > 0 ? ` The previous one expires at ${new Date(endMs).toISOString()}.` : ''
  warn(`The configured secret of "${clientId}" was changed.${end}`)
}

async function updateKeys(
  configured: readonly PublicKey[],
  { id, clientId }: CredentialOwner,
  { nowMs, warn }: SeedContext,
  table: KeyTable,
): Promise<void> {
  await changeRepeatedly(async () => {
    const client = await table.find(clientId)
    if (!client) return true
    if (client.keys.some((key) => key.configured && (key.expiresAtMs ?? Infinity) <= nowMs)) {
      warn(`An administrator removed a configured key of "${clientId}". Configure another one.`)
    }
    const keys = withConfiguredKeys(client.keys, configured)
    if (!keys) return true
    warn(`The configured keys of "${clientId}" were changed.`)
    return table.update(id, { keys }, client.revision)
  })
}

/** The ID is derived from the secret: instances that start at the same time store it once. */
function configuredSecrets(
  { clientSecret: value, clientSecretExpiresAt }: ConfiguredClient,
  ownerId: string,
  { keyring, nowMs }: SeedContext,
): StoredSecret[] {
  if (value === undefined) return []
  const id = configuredId(digest(`${ownerId} ${keyring.hash(value).hash}`))
  const expiresAtMs = clientSecretExpiresAt === undefined ? undefined : Date.parse(clientSecretExpiresAt)
  return [storedSecret(keyring, { id, ownerId, value, nowMs, expiresAtMs })]
}

/** Derived from the name: instances that start at the same time create one project. */
function projectIdOf(name: string): string {
  const digits = hash('sha256', `project ${name}`).slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
