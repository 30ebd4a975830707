import { createActivityRecorder, type ActivityRecorder } from './activity/activity-recorder.ts'
import { createApplicationRegistry, type ApplicationRegistry } from './applications/application-registry.ts'
import { seedApplications } from './applications/seed-applications.ts'
import {
  createApplicationAuthenticator,
  type AuthenticateApplication,
} from './authentication/authenticate-application.ts'
import {
  createResourceServerAuthenticator,
  type AuthenticateResourceServer,
} from './authentication/authenticate-resource-server.ts'
import { createFailureGuard } from './authentication/failure-guard.ts'
import type { Clock } from './clock.ts'
import { readOrCreateKeyFile } from './keys/key-file.ts'
import { createKeyring, createRandomKey, type Keyring } from './keys/keyring.ts'
import { openStorage, type StorageLocation } from './storage/open-storage.ts'
import type { Storage } from './storage/storage.ts'
import type { ResolvedOptions } from './token-service-options.ts'
import { UserMistake } from './user-mistake.ts'
import { purgeRegularly } from './tokens/purge-expired.ts'

/** The parts the endpoints are made of, opened and ready. */
export interface ServiceContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
  readonly registry: ApplicationRegistry
  readonly authenticateApplication: AuthenticateApplication
  readonly authenticateResourceServer: AuthenticateResourceServer
  /** Forgets every token and failure, and puts the given applications back to what they were. */
  readonly reseed: () => Promise<void>
  /** Writes what is still to be written, and lets go of the storage. */
  close(): Promise<void>
}

export async function openServiceContext(
  options: ResolvedOptions,
  onError: (error: unknown) => void,
): Promise<ServiceContext> {
  const { clock } = options
  const keyring = createKeyring(options.keys ?? (await keysFor(options.storage)))
  const storage = await openStorage(options.storage, {
    onError,
    async prepare(opened) {
      await checkKeys(opened, keyring)
      await seedApplications(options.applications, { storage: opened, keyring, nowMs: clock.now() })
    },
  })
  const { applications } = storage
  const activity = createActivityRecorder({ storage: storage.activity, clock, onError })
  const guard = createFailureGuard(storage.failures, clock, options.failureLimit)
  const stopPurging = purgeRegularly({ storage, clock, onError })
  return {
    storage,
    keyring,
    clock,
    activity,
    registry: createApplicationRegistry({ storage, keyring, clock, activity }),
    authenticateApplication: createApplicationAuthenticator({ applications, keyring, clock, guard }),
    authenticateResourceServer: createResourceServerAuthenticator(options.resourceServers, keyring, guard),
    async reseed() {
      await Promise.all([storage.tokens.clear(), storage.failures.clear()])
      await seedApplications(options.applications, { storage, keyring, nowMs: clock.now(), replace: true })
    },
    async close() {
      await stopPurging()
      await activity.close()
      await storage.close()
    },
  }
}

/** With keys of another database nobody could get a token, and nothing would say why. */
async function checkKeys({ applications }: Storage, { keyIds }: Keyring): Promise<void> {
  const used = await applications.keyIds()
  if (used.length > 0 && !used.some((id) => keyIds.includes(id))) {
    throw new UserMistake(
      'None of the secrets in this database was hashed under the given keys. Give the keys it was used with, the newest first.',
    )
  }
}

async function keysFor(storage: StorageLocation): Promise<string[]> {
  return storage.kind === 'sqlite' ? readOrCreateKeyFile(`${storage.file}.keys`) : [createRandomKey()]
}
