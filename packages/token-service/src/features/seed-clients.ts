import { hash, randomUUID } from 'node:crypto'
import { digest } from '../runtime/digest.ts'
import type { StoredSecret, PublicKey } from '../storage/application.ts'
import { catalogueStorage, type CatalogueEntry, type CatalogueKind } from './catalogue/storage.ts'
import type { Database } from '../storage/database.ts'
import { type Transaction, type Act } from './acts.ts'
import { byConfiguration, changesOf, type Audit } from '../storage/act.ts'
import type { ResolvedApplication, ResourceServerOptions } from './applications/options.ts'
import { settingNames, type SettingName } from './applications/settings.ts'
import {
  configuredId,
  isConfigured,
  storedSecret,
  type ClientKind,
  type CredentialOwner,
} from './credentials/acts.ts'
import type { Keyring } from '../runtime/keyring.ts'
import { setEntry } from './catalogue/acts.ts'
import { configuredKeys, withConfiguredKeys } from './credentials/public-keys.ts'

export interface SeedContext {
  readonly database: Database
  readonly act: Act
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
  const { database, act, nowMs, replace = false } = context
  await catalogueStorage(database, 'products').add([
    ...new Set(applications.flatMap(({ products }) => products)),
  ])
  await catalogueStorage(database, 'scopes').add([...new Set(applications.flatMap(({ scopes }) => scopes))])
  for (const options of applications) {
    await act(byConfiguration, async (stored, audit) => {
      const projectId = projectIdOf(options.project)
      const project = (await stored.projects.find(projectId)) ?? {
        id: projectId,
        // Not the project of somebody who was faster.
        name: await freeProjectName(options.project, stored),
        organizationName: options.organizationName,
        developerEmail: options.developerEmail,
        createdAtMs: nowMs,
      }
      if (await stored.projects.create(project))
        audit('project_created', { detail: projectId, changes: changesOf({ name: project.name }) })
      const { organizationName, developerEmail } = project
      const { clientId, status } = options
      const keys = configuredKeys(options, nowMs)
      const details = { ...settingsOf(options), status, organizationName, developerEmail }
      const id = randomUUID()
      const created = { id, projectId, clientId, createdAtMs: nowMs, revision: 0, tokenGeneration: 0, keys }
      if (
        await stored.applications.create({ ...created, ...details }, configuredSecrets(options, id, context))
      )
        return audit('application_created', { clientId, changes: changesOf(details) })
      const existing = await stored.applications.findClient(clientId)
      if (!existing) return
      const owner = { ...existing.application, secrets: existing.secrets }
      if (replace) await stored.applications.update(owner.id, { ...details, keys, requested: null })
      await updateCredentials({ options, owner, keys, kind: 'applications' }, context, stored, audit)
    })
  }
}

function settingsOf(options: ResolvedApplication): Pick<ResolvedApplication, SettingName> {
  return Object.fromEntries(settingNames.map((name) => [name, options[name]])) as ReturnType<
    typeof settingsOf
  >
}

/** Adds to a catalogue; what the configuration says of an entry, beside its name, replaces what was stored. */
export async function seedCatalogue(
  kind: CatalogueKind,
  entries: readonly (string | CatalogueEntry)[],
  { database, act }: Pick<SeedContext, 'database' | 'act'>,
): Promise<void> {
  await catalogueStorage(database, kind).add(entries.filter((entry) => typeof entry === 'string'))
  const described = entries.filter((entry) => typeof entry === 'object')
  if (described.length === 0) return
  await act(byConfiguration, async (stored, audit) => {
    for (const entry of described) await setEntry(kind, entry, stored, audit)
  })
}

/** As for applications. */
export async function seedResourceServers(
  servers: readonly ResourceServerOptions[],
  context: SeedContext,
): Promise<void> {
  const { act, nowMs, replace = false } = context
  for (const options of servers) {
    await act(byConfiguration, async (stored, audit) => {
      const { clientId, name = clientId } = options
      const keys = configuredKeys(options, nowMs)
      const id = randomUUID()
      const secrets = configuredSecrets(options, id, context)
      const settings = { name, ...(options.audiences && { audiences: options.audiences }) }
      const created = { id, clientId, ...settings, createdAtMs: nowMs, secrets, keys, revision: 0 }
      if (await stored.resourceServers.create(created))
        return audit('resource_server_created', { clientId, changes: changesOf(settings) })
      const owner = await stored.resourceServers.find(clientId)
      if (!owner) return
      if (replace) await stored.resourceServers.update(owner.id, { audiences: null, ...settings, keys })
      await updateCredentials({ options, owner, keys, kind: 'resourceServers' }, context, stored, audit)
    })
  }
}

interface SeededClient {
  readonly options: ConfiguredClient
  readonly owner: Omit<CredentialOwner, 'kind'> & { readonly keys: readonly PublicKey[] }
  /** The configured ones. */
  readonly keys: readonly PublicKey[]
  readonly kind: ClientKind
}

async function updateCredentials(
  client: SeededClient,
  context: SeedContext,
  stored: Transaction,
  audit: Audit,
): Promise<void> {
  const { options, owner, keys, kind } = client
  if (context.replace) {
    for (const secret of owner.secrets) await stored.secrets.remove(secret.id)
    for (const secret of configuredSecrets(options, owner.id, context)) await stored.secrets.add(secret)
    return
  }
  await updateSecret(client, context, stored, audit)
  const { id, clientId } = owner
  if (owner.keys.some((key) => key.configured && (key.expiresAtMs ?? Infinity) <= context.nowMs)) {
    context.warn(`An administrator removed a configured key of "${clientId}". Configure another one.`)
  }
  const changed = withConfiguredKeys(owner.keys, keys)
  if (!changed) return
  context.warn(`The configured keys of "${clientId}" were changed.`)
  await stored[kind].update(id, { keys: changed })
  audit('keys_changed', { clientId })
}

/** Makes a changed secret valid, and lets the one that was configured before expire. */
async function updateSecret(
  { options, owner: { id, clientId, secrets } }: SeededClient,
  context: SeedContext,
  stored: Transaction,
  audit: Audit,
): Promise<void> {
  const { keyring, nowMs, secretOverlapSeconds, warn } = context
  const [current] = keyring.matching(secrets, options.clientSecret ?? '')
  if (current && (current.expiresAtMs ?? Infinity) <= nowMs) {
    warn(`The configured secret of "${clientId}" has expired or was revoked. Configure another one.`)
  }
  // One that has expired, too: without its older key, it would be taken for a new secret.
  if (current && options.clientSecret !== undefined && current.keyId !== keyring.keyIds[0])
    await stored.secrets.rehash(current.id, keyring.hash(options.clientSecret))
  const added = current ? [] : configuredSecrets(options, id, context)
  for (const secret of added) await stored.secrets.add(secret)
  const endMs = nowMs + secretOverlapSeconds * 1000
  const replaced = secrets.filter(
    (secret) => isConfigured(secret) && secret !== current && (secret.expiresAtMs ?? Infinity) > endMs,
  )
  for (const secret of replaced) await stored.secrets.expire(secret.id, endMs)
  if (added.length + replaced.length === 0) return
  const end = replaced.length > 0 ? ` The previous one expires at ${new Date(endMs).toISOString()}.` : ''
  warn(`The configured secret of "${clientId}" was changed.${end}`)
  audit('secret_rotated', { clientId, detail: added[0]?.id })
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

/** The name, or the first that is free of those with a number after it. */
async function freeProjectName(name: string, { projects }: Transaction): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name} (${number})`
    if (!(await projects.findByName(candidate))) return candidate
  }
}

/** Derived from the name: instances that start at the same time create one project. */
function projectIdOf(name: string): string {
  const digits = hash('sha256', `project ${name}`).slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
