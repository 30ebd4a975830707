import { hash, randomUUID } from 'node:crypto'
import { digest } from '../runtime/digest.ts'
import type { StoredSecret, PublicKey } from '../storage/application.ts'
import { applicationStorage } from '../features/applications/storage.ts'
import { secretStorage } from '../features/credentials/storage.ts'
import { projectStorage } from '../features/projects/storage.ts'
import { resourceServerStorage } from '../features/resource-servers/storage.ts'
import { catalogueStorage, type CatalogueEntry, type CatalogueKind } from '../features/catalogue/storage.ts'
import type { Database } from '../storage/database.ts'
import { byConfiguration, changesOf, type Act, type Perform } from '../storage/act.ts'
import {
  settingNames,
  type ResolvedApplication,
  type SettingName,
} from '../features/applications/settings.ts'
import type { ResourceServerOptions } from './token-service-options.ts'
import {
  configuredId,
  isConfigured,
  storedSecret,
  storeKeys,
  type CredentialOwner,
} from '../features/credentials/acts.ts'
import { setEntry } from '../features/catalogue/acts.ts'
import { configuredKeys, hasRemovedKey, withConfiguredKeys } from '../features/credentials/public-keys.ts'

export interface SeedContext {
  readonly database: Database
  readonly perform: Perform
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
  const { database, perform } = context
  await catalogueStorage(database, 'products').add([
    ...new Set(applications.flatMap(({ products }) => products)),
  ])
  await catalogueStorage(database, 'scopes').add([...new Set(applications.flatMap(({ scopes }) => scopes))])
  for (const options of applications)
    await perform(byConfiguration, (act) => seedApplication(act, options, context))
}

async function seedApplication(act: Act, options: ResolvedApplication, context: SeedContext): Promise<void> {
  const [projects, stored] = [projectStorage(act), applicationStorage(act)]
  const nowMs = act.clock.now()
  const projectId = projectIdOf(options.project)
  const project = (await projects.find(projectId)) ?? {
    id: projectId,
    // Not the project of somebody who was faster.
    name: await freeProjectName(options.project, projects),
    organizationName: options.organizationName,
    developerEmail: options.developerEmail,
    createdAtMs: nowMs,
  }
  if (await projects.create(project))
    act.audit('project_created', { detail: projectId, changes: changesOf({ name: project.name }) })
  const { organizationName, developerEmail } = project
  const { clientId, status } = options
  const keys = configuredKeys(options, nowMs)
  const details = { ...settingsOf(options), status, organizationName, developerEmail }
  const id = randomUUID()
  const created = { id, projectId, clientId, createdAtMs: nowMs, revision: 0, tokenGeneration: 0, keys }
  if (await stored.create({ ...created, ...details }, configuredSecrets(act, options, id)))
    return act.audit('application_created', { clientId, changes: changesOf(details) })
  const existing = await stored.findClient(clientId)
  if (!existing) return
  const owner = { ...existing.application, kind: 'applications', secrets: existing.secrets } as const
  if (context.replace) await stored.update(owner.id, { ...details, keys, requested: null })
  await updateCredentials(act, { options, owner, keys }, context)
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
  { database, perform }: Pick<SeedContext, 'database' | 'perform'>,
): Promise<void> {
  await catalogueStorage(database, kind).add(entries.filter((entry) => typeof entry === 'string'))
  const described = entries.filter((entry) => typeof entry === 'object')
  if (described.length === 0) return
  await perform(byConfiguration, async (act) => {
    for (const entry of described) await setEntry(act, kind, entry)
  })
}

/** As for applications. */
export async function seedResourceServers(
  servers: readonly ResourceServerOptions[],
  context: SeedContext,
): Promise<void> {
  for (const options of servers)
    await context.perform(byConfiguration, (act) => seedResourceServer(act, options, context))
}

async function seedResourceServer(
  act: Act,
  options: ResourceServerOptions,
  context: SeedContext,
): Promise<void> {
  const stored = resourceServerStorage(act)
  const nowMs = act.clock.now()
  const { clientId, name = clientId } = options
  const keys = configuredKeys(options, nowMs)
  const id = randomUUID()
  const secrets = configuredSecrets(act, options, id)
  const settings = { name, ...(options.audiences && { audiences: options.audiences }) }
  const created = { id, clientId, ...settings, createdAtMs: nowMs, secrets, keys, revision: 0 }
  if (await stored.create(created))
    return act.audit('resource_server_created', { clientId, changes: changesOf(settings) })
  const owner = await stored.find(clientId)
  if (!owner) return
  if (context.replace) await stored.update(owner.id, { audiences: null, ...settings, keys })
  await updateCredentials(act, { options, owner: { ...owner, kind: 'resourceServers' }, keys }, context)
}

interface SeededClient {
  readonly options: ConfiguredClient
  readonly owner: CredentialOwner & { readonly keys: readonly PublicKey[] }
  /** The configured ones. */
  readonly keys: readonly PublicKey[]
}

async function updateCredentials(act: Act, client: SeededClient, context: SeedContext): Promise<void> {
  const { options, owner, keys } = client
  const { id, clientId } = owner
  if (context.replace) {
    const secrets = secretStorage(act)
    for (const secret of owner.secrets) await secrets.remove(secret.id)
    for (const secret of configuredSecrets(act, options, id)) await secrets.add(secret)
    return
  }
  await updateSecret(act, client, context)
  const nowMs = act.clock.now()
  if (hasRemovedKey(owner.keys, keys, nowMs)) {
    context.warn(`An administrator removed a configured key of "${clientId}". Configure another one.`)
  }
  const changed = withConfiguredKeys(owner.keys, keys, nowMs)
  if (!changed) return
  context.warn(`The configured keys of "${clientId}" were changed.`)
  await storeKeys(act, owner, changed)
  act.audit('keys_changed', { clientId })
}

/** Makes a changed secret valid, and lets the one that was configured before expire. */
async function updateSecret(
  act: Act,
  { options, owner: { id, clientId, secrets } }: SeededClient,
  { secretOverlapSeconds, warn }: SeedContext,
): Promise<void> {
  const { keyring, clock } = act
  const stored = secretStorage(act)
  const nowMs = clock.now()
  const [current] = keyring.matching(secrets, options.clientSecret ?? '')
  if (current && (current.expiresAtMs ?? Infinity) <= nowMs) {
    warn(`The configured secret of "${clientId}" has expired or was revoked. Configure another one.`)
  }
  // One that has expired, too: without its older key, it would be taken for a new secret.
  if (current && options.clientSecret !== undefined && current.keyId !== keyring.keyIds[0])
    await stored.rehash(current.id, keyring.hash(options.clientSecret))
  const added = current ? [] : configuredSecrets(act, options, id)
  for (const secret of added) await stored.add(secret)
  const endMs = nowMs + secretOverlapSeconds * 1000
  const replaced = secrets.filter(
    (secret) => isConfigured(secret) && secret !== current && (secret.expiresAtMs ?? Infinity) > endMs,
  )
  for (const secret of replaced) await stored.expire(secret.id, endMs)
  if (added.length + replaced.length === 0) return
  const end = replaced.length > 0 ? ` The previous one expires at ${new Date(endMs).toISOString()}.` : ''
  warn(`The configured secret of "${clientId}" was changed.${end}`)
  act.audit('secret_rotated', { clientId, detail: added[0]?.id })
}

/** The ID is derived from the secret: instances that start at the same time store it once. */
function configuredSecrets(
  { keyring, clock }: Act,
  { clientSecret: value, clientSecretExpiresAt }: ConfiguredClient,
  ownerId: string,
): StoredSecret[] {
  if (value === undefined) return []
  const id = configuredId(digest(`${ownerId} ${keyring.hash(value).hash}`))
  const expiresAtMs = clientSecretExpiresAt === undefined ? undefined : Date.parse(clientSecretExpiresAt)
  return [storedSecret(keyring, { id, ownerId, value, nowMs: clock.now(), expiresAtMs })]
}

/** The name, or the first that is free of those with a number after it. */
async function freeProjectName(
  name: string,
  projects: Pick<ReturnType<typeof projectStorage>, 'findByName'>,
): Promise<string> {
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
