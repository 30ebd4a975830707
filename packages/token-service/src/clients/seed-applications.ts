import { hash, randomUUID } from 'node:crypto'
import type { RegisteredClient } from '../storage/application.ts'
import type { Keyring } from './keyring.ts'
import type { PublicKey } from '../storage/public-key.ts'
import { digest } from '../runtime/digest.ts'
import type { Storage } from '../storage/storage.ts'
import type { ResolvedApplication } from './application-options.ts'
import { changeRepeatedly } from './change-repeatedly.ts'
import { configuredSecretPrefix, storedSecret } from './client-secret.ts'
import { configuredKeys, withConfiguredKeys } from './public-keys.ts'

export interface SeedContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly nowMs: number
  /** How long a configured secret stays valid after another one has been configured. */
  readonly secretOverlapSeconds: number
  /** Receives a sentence for the log about each secret or key that is replaced or revoked. */
  readonly warn: (message: string) => void
  /** Restores the applications that exist to their configuration. @default false */
  readonly replace?: boolean | undefined
}

/**
 * Creates the applications that do not exist. Of those that exist, only the configured secret and keys are updated,
 * unless `replace` is set.
 */
export async function seedApplications(
  applications: readonly ResolvedApplication[],
  context: SeedContext,
): Promise<void> {
  const { storage, nowMs, replace = false } = context
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
    const id = randomUUID()
    const application = {
      id,
      projectId,
      clientId,
      createdAtMs: nowMs,
      revision: 0,
      tokenGeneration: 0,
      ...settings,
    }
    if (await storage.applications.create(application, configuredSecrets(options, id, context))) continue
    const existing = await storage.applications.findClient(clientId)
    if (!existing) continue
    if (!replace) {
      await updateSecret(options, existing, context)
      await updateKeys(keys, clientId, context)
      continue
    }
    await storage.applications.update(existing.application.id, { ...settings, requested: null })
    for (const secret of existing.secrets) await storage.applications.removeSecret(secret.id)
    for (const secret of configuredSecrets(options, existing.application.id, context)) {
      await storage.applications.addSecret(secret)
    }
  }
}

/** Makes a changed secret valid, and lets the one that was configured before expire. */
async function updateSecret(
  options: ResolvedApplication,
  { application, secrets }: RegisteredClient,
  context: SeedContext,
): Promise<void> {
  const { storage, keyring, nowMs, secretOverlapSeconds, warn } = context
  const [configured] = configuredSecrets(options, application.id, context)
  const [current] = keyring.matching(secrets, options.clientSecret ?? '')
  if (current) {
    if (current.expiresAtMs !== undefined && current.expiresAtMs <= nowMs) {
      warn(
        `The configured secret of "${application.clientId}" has expired or was revoked. Configure another one.`,
      )
    }
    return
  }
  if (configured) await storage.applications.addSecret(configured)
  const expiresAtMs = nowMs + secretOverlapSeconds * 1000
  const replaced = secrets.filter(
    (secret) =>
      secret.id.startsWith(configuredSecretPrefix) && (secret.expiresAtMs ?? Infinity) > expiresAtMs,
  )
  for (const { id } of replaced) await storage.applications.expireSecret(id, expiresAtMs)
  if (!configured && replaced.length === 0) return
  const end =
    replaced.length > 0 ? ` The previous one expires at ${new Date(expiresAtMs).toISOString()}.` : ''
  warn(`The configured secret of "${application.clientId}" was changed.${end}`)
}

async function updateKeys(
  configured: readonly PublicKey[],
  clientId: string,
  { storage, nowMs, warn }: SeedContext,
): Promise<void> {
  await changeRepeatedly(async () => {
    const client = await storage.applications.findClient(clientId)
    if (!client) return true
    const { id, revision, keys } = client.application
    if (keys.some((key) => key.configured && (key.expiresAtMs ?? Infinity) <= nowMs)) {
      warn(`An administrator removed a configured key of "${clientId}". Configure another one.`)
    }
    const changed = withConfiguredKeys(keys, configured)
    if (!changed) return true
    warn(`The configured keys of "${clientId}" were changed.`)
    return storage.applications.update(id, { keys: changed }, revision)
  })
}

/** The ID is derived from the secret: instances that start at the same time store it once. */
function configuredSecrets(
  { clientSecret, clientSecretExpiresAt }: ResolvedApplication,
  applicationId: string,
  { keyring, nowMs }: SeedContext,
) {
  if (clientSecret === undefined) return []
  const expiresAtMs = clientSecretExpiresAt === undefined ? undefined : Date.parse(clientSecretExpiresAt)
  const secret = storedSecret(keyring, { applicationId, value: clientSecret, nowMs, expiresAtMs })
  return [{ ...secret, id: `${configuredSecretPrefix}${digest(`${applicationId} ${secret.hash}`)}` }]
}

/** Derived from the name: instances that start at the same time create one project. */
function projectIdOf(name: string): string {
  const digits = hash('sha256', `project ${name}`).slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
