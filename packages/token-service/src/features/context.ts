import { clientFinder } from '../storage/registered-client.ts'
import { applicationStorage } from './applications/storage.ts'
import { catalogueStorage } from './catalogue/storage.ts'
import { secretStorage } from './credentials/storage.ts'
import { developerStorage } from './people/storage.ts'
import { projectStorage } from './projects/storage.ts'
import { sessionStorage } from './sessions/storage.ts'
import { signingKeyStorage } from '../oauth/signing-key-storage.ts'
import { trustedIssuerStorage } from './trusted-issuers/storage.ts'
import { purgeTimeStorage } from '../storage/purge-time.ts'
import { auditStorage } from '../storage/audit-storage.ts'
import { submissionStorage } from '../storage/submission-storage.ts'
import type { ClockJump } from './audit/acts.ts'
import type { HashKeyWatch } from './hash-keys/acts.ts'
import type { OpenidProviderSettings } from './people/openid-provider-settings.ts'
import { resourceServerStorage, type ResourceServer } from './resource-servers/storage.ts'
import { listingStorage } from './search/listings.ts'
import { assertionStorage } from '../oauth/assertion-storage.ts'
import type { IdentityAuthenticator } from '../oauth/authenticate-by-identity.ts'
import type { AuthenticateClient } from '../oauth/authenticate-client.ts'
import { failureStorage } from '../oauth/failed-attempt-limit.ts'
import type { Format } from '../oauth/protocol-error.ts'
import type { SigningKeys } from '../oauth/signing-keys.ts'
import { tokenStorage } from '../oauth/token-storage.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Perform } from '../storage/act.ts'
import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import type { RegisteredClient } from '../storage/application.ts'
import type { Database, OpenDatabase } from '../storage/database.ts'
import { activityStorage } from '../storage/activity-storage.ts'

/** Everything that a service stores. */
export type Storage = ReturnType<typeof createStorage>

/** What concurrent requests look for is read in batches. */
export function createStorage(open: OpenDatabase) {
  const { database } = open
  return {
    ...open,
    projects: projectStorage(database),
    products: catalogueStorage(database, 'products'),
    scopes: catalogueStorage(database, 'scopes'),
    applications: { ...applicationStorage(database), findClient: clientFinder(database) },
    secrets: secretStorage(database),
    resourceServers: resourceServerStorage(database),
    trustedIssuers: trustedIssuerStorage(database),
    developers: developerStorage(database),
    sessions: sessionStorage(database),
    submissions: submissionStorage(database),
    signingKeys: signingKeyStorage(database),
    audit: auditStorage(database),
    purgeTime: purgeTimeStorage(database),
    tokens: tokenStorage(database),
    failures: failureStorage(database),
    assertions: assertionStorage(database),
    activity: activityStorage(database),
    listings: listingStorage(database),
  }
}

/** The parts of a running service, which its endpoints and its portal use. */
export interface ServiceContext {
  readonly storage: Storage
  readonly database: Database
  /** Changes something together with its entry in the audit log. */
  readonly perform: Perform
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
  /** Set while nothing is deleted, until an administrator confirms the clock. */
  readonly clockJump: () => ClockJump | undefined
  /** Keys that secrets need and that are not configured, as of the last minute. */
  readonly missingHashKeys: HashKeyWatch['missing']
  /** By how much the clock is ahead of the database's, as of the last minute; set while it is too much to be ready. */
  readonly clockOffsetMs: () => number | undefined
  readonly signingKeys: SigningKeys
  readonly authenticateApplication: AuthenticateClient<RegisteredClient>
  readonly authenticateByGrant: IdentityAuthenticator['byGrant']
  readonly authenticateResourceServer: AuthenticateClient<ResourceServer>
  readonly format: Format
  /** The URL that clients use; `undefined`: the one in the request. */
  readonly publicUrl: string | undefined
  /** The OpenID provider through which people log in to the portal. */
  readonly openidProvider: OpenidProviderSettings | undefined
  readonly warn: (message: string) => void
  /** Logs an error; failures of the storage at most once a minute. */
  readonly logFailure: (error: unknown) => void
  /** Deletes every token and failure, and restores the configured applications. */
  readonly reset: () => Promise<void>
  /** Writes pending activity and closes the storage. */
  close(): Promise<void>
}
