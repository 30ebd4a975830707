import { isLoopback } from '../oauth/base-url.ts'
import { createActivityRecorder } from '../storage/activity-recorder.ts'
import { createAssertionAuthenticator } from '../oauth/authenticate-by-assertion.ts'
import { createIdentityAuthenticator } from '../oauth/authenticate-by-identity.ts'
import { createClientAuthenticator } from '../oauth/authenticate-client.ts'
import { createFailedAttemptLimit } from '../oauth/failed-attempt-limit.ts'
import { createKeyring, createRandomKey } from '../runtime/keyring.ts'
import { createSigningKeys } from '../oauth/signing-keys.ts'
import { seedApplications, seedResourceServers, seedCatalogue } from './seed-clients.ts'
import { seedTrustedIssuers } from '../features/trusted-issuers/acts.ts'
import { createActQueue } from '../storage/act-queue.ts'
import { byConfiguration, createPerform, describeEntry } from '../storage/act.ts'
import type { StoredAuditEntry } from '../storage/audit-storage.ts'
import { checkNewestKey } from '../storage/hash-keys.ts'
import { openDatabase, type StorageLocation } from '../storage/open-database.ts'
import type { Database } from '../storage/database.ts'
import { watchClock } from './clock-watch.ts'
import { createPurge, purgeRegularly } from './purge.ts'
import { createStorage, type ServiceContext } from '../features/context.ts'
import type { RemoteKeySets } from '../oauth/remote-key-sets.ts'
import { checkHashKeys, renewHashKeys, watchHashKeys } from '../features/hash-keys/acts.ts'
import type { ResolvedOptions } from './service-settings.ts'

const dayMs = 86_400_000
const failureWindowSeconds = 60

export async function openServiceContext(
  options: ResolvedOptions,
  onError: (error: unknown) => void,
): Promise<ServiceContext> {
  const { clock, format, publicUrl } = options
  const keyring = createKeyring(options.secretHashKeys ?? (await keysFor(options.storage)))
  const { secretOverlapSeconds, logger } = options
  const warn = (message: string) => logger?.warn(message)
  const queue = createActQueue()
  const onCommitted = (entry: StoredAuditEntry) => logger?.info(describeEntry(entry), 'audit')
  const performOn = (database: Database) => createPerform({ database, queue, keyring, clock, onCommitted })
  const seed = async (database: Database, replace = false) => {
    const perform = performOn(database)
    const context = { database, perform, secretOverlapSeconds, warn, replace }
    await seedCatalogue('products', options.products, context)
    await seedCatalogue('scopes', options.scopes, context)
    await seedApplications(options.applications, context)
    await seedResourceServers(options.resourceServers, context)
    await perform(byConfiguration, (act) => seedTrustedIssuers(act, options.trustedIssuers))
  }
  const signingKeysOf = (database: Database) =>
    createSigningKeys({
      database,
      perform: performOn(database),
      keyring,
      clock,
      algorithm: options.signingAlgorithm,
      warn,
    })
  if (options.trustProxy === true) {
    logger?.warn(
      'trustProxy is true, so clients can forge their address and evade the limit on failed attempts. Set the addresses of your proxies instead.',
    )
  }
  if (publicUrl?.startsWith('http:') && !isLoopback(new URL(publicUrl).host)) {
    logger?.warn(
      `publicUrl is "${publicUrl}", so secrets and tokens cross the network unencrypted. Put a proxy that terminates TLS in front of the service, and set its https URL.`,
    )
  }
  const hashKeys = watchHashKeys({ keyring, clock, warn })
  const clockWatch = watchClock({ clock, warn })
  const open = await openDatabase(options.storage, {
    onError,
    keyring,
    clock,
    async prepare(database) {
      await checkHashKeys(database, keyring, clock.now())
      await renewHashKeys(database, keyring)
      await seed(database)
      await signingKeysOf(database).prepare()
      await hashKeys.check(database)
      await clockWatch.check(database)
    },
  })
  const storage = createStorage(open)
  const { database, applications, resourceServers } = storage
  const activity = createActivityRecorder({ storage: storage.activity, clock, onError })
  const failedAttempts = createFailedAttemptLimit(storage.failures, clock, {
    attempts: options.failureAttempts,
    windowSeconds: failureWindowSeconds,
  })
  let loadedKeySets: Promise<RemoteKeySets> | undefined
  // Loaded on first use: most services never see an assertion.
  const keySets = () =>
    (loadedKeySets ??= import('../oauth/remote-key-sets.ts').then(({ createRemoteKeySets }) =>
      createRemoteKeySets({ fetchKeys: options.fetchKeys, allowedHosts: options.jwksAllowedHosts, warn }),
    ))
  const assertionContext = { assertions: storage.assertions, clock, failedAttempts, keySets }
  const authenticateByAssertion = createAssertionAuthenticator(assertionContext)
  const authentication = { keyring, clock, failedAttempts, activity, authenticateByAssertion }
  const identities = createIdentityAuthenticator({
    ...assertionContext,
    trustedIssuers: storage.trustedIssuers,
    applications,
    warn,
  })
  const perform = performOn(database)
  const purge = createPurge({
    storage,
    perform,
    keyring,
    clock,
    // The sandbox's clock, which tests move on purpose, is the only time there is.
    elapsedMs: options.sandbox ? () => clock.now() : () => performance.now(),
    warn,
    auditRetentionMs: options.auditRetentionDays * dayMs,
    usageRetentionMs: options.usageRetentionDays * dayMs,
  })
  const run = async () => {
    await hashKeys.check(database)
    await checkNewestKey(database.query, keyring)
    await clockWatch.check(database)
    if (clockWatch.offsetMs() === undefined) await purge.run()
  }
  const stopPurging = purgeRegularly({ run }, onError)
  return {
    storage,
    keyring,
    clock,
    activity,
    format,
    publicUrl,
    openidProvider: options.openidProvider,
    warn,
    logFailure: onError,
    database,
    perform,
    clockJump: purge.clockJump,
    missingHashKeys: hashKeys.missing,
    clockOffsetMs: clockWatch.offsetMs,
    signingKeys: signingKeysOf(database),
    authenticateApplication: createClientAuthenticator(
      async (clientId) => {
        const client = await applications.findClient(clientId)
        return client && { client, secrets: client.secrets, keys: client.application.keys }
      },
      authentication,
      identities.byAssertion,
    ),
    authenticateByGrant: identities.byGrant,
    authenticateResourceServer: createClientAuthenticator(async (clientId) => {
      const client = await resourceServers.find(clientId)
      return client && { client, secrets: client.secrets, keys: client.keys }
    }, authentication),
    async reset() {
      await Promise.all([storage.tokens.clear(), storage.failures.clear()])
      await seed(database, true)
    },
    async close() {
      await stopPurging()
      await activity.close()
      await storage.close()
    },
  }
}

async function keysFor(storage: StorageLocation): Promise<string[]> {
  if (storage.kind !== 'sqlite') return [createRandomKey()]
  const { readOrCreateKeyFile } = await import('./key-file.ts')
  return readOrCreateKeyFile(storage.file)
}
