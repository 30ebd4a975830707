import type { ResourceServer, ResourceServerSecret } from '../storage/resource-server.ts'
import { changeRepeatedly } from './change-repeatedly.ts'
import { storedSecret } from './client-secret.ts'
import { configuredKeys, withConfiguredKeys, type PublicKeyOptions } from './public-keys.ts'
import type { SeedContext } from './seed-applications.ts'

/** An API that may introspect tokens. It is registered when the service starts. */
export interface ResourceServerOptions extends PublicKeyOptions {
  readonly clientId: string
  /** Required without a public key. */
  readonly clientSecret?: string | undefined
  /** @default its client ID */
  readonly name?: string | undefined
}

/**
 * Creates the resource servers that do not exist. Of those that exist, only the configured secret and keys are updated,
 * unless `replace` is set.
 */
export async function seedResourceServers(
  servers: readonly ResourceServerOptions[],
  context: SeedContext,
): Promise<void> {
  const { storage, nowMs, warn, replace = false } = context
  for (const options of servers) {
    const { clientId, name = clientId } = options
    const keys = configuredKeys(options, nowMs)
    const server = {
      clientId,
      name,
      createdAtMs: nowMs,
      secrets: configuredSecrets(options, context),
      keys,
      revision: 0,
    }
    await changeRepeatedly(async () => {
      const existing = await storage.resourceServers.find(clientId)
      if (!existing) return storage.resourceServers.create(server)
      const { revision } = existing
      if (replace)
        return storage.resourceServers.update(clientId, { name, secrets: server.secrets, keys }, revision)
      const secrets = withConfiguredSecret(existing, options, context)
      const changedKeys = withConfiguredKeys(existing.keys, keys)
      if (!secrets && !changedKeys) return true
      warn(`The configured credentials of the resource server "${clientId}" were changed.`)
      const changes = { secrets: secrets ?? existing.secrets, keys: changedKeys ?? existing.keys }
      return storage.resourceServers.update(clientId, changes, revision)
    })
  }
}

function configuredSecrets(
  { clientSecret }: ResourceServerOptions,
  { keyring, nowMs }: SeedContext,
): ResourceServerSecret[] {
  if (clientSecret === undefined) return []
  const { applicationId: _, ...secret } = storedSecret(keyring, {
    applicationId: '',
    value: clientSecret,
    nowMs,
  })
  return [{ ...secret, configured: true }]
}

/** Adds a changed secret, and lets the one that was configured before expire; `undefined`: nothing changes. */
function withConfiguredSecret(
  { clientId, secrets }: ResourceServer,
  options: ResourceServerOptions,
  context: SeedContext,
): ResourceServerSecret[] | undefined {
  const { keyring, nowMs, secretOverlapSeconds, warn } = context
  const [current] = keyring.matching(secrets, options.clientSecret ?? '')
  if (current && (current.expiresAtMs ?? Infinity) <= nowMs) {
    warn(
      `The configured secret of the resource server "${clientId}" has expired or was revoked. Configure another one.`,
    )
  }
  const latest = nowMs + secretOverlapSeconds * 1000
  const isReplaced = (secret: ResourceServerSecret) =>
    secret.configured === true && secret !== current && (secret.expiresAtMs ?? Infinity) > latest
  const added = current ? [] : configuredSecrets(options, context)
  if (added.length === 0 && !secrets.some(isReplaced)) return undefined
  return [
    ...secrets.map((secret) => (isReplaced(secret) ? { ...secret, expiresAtMs: latest } : secret)),
    ...added,
  ]
}
