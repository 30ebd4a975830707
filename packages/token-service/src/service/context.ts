import { allParts, type Act } from '../features/acts.ts'
import type { ApplicationRegistry } from '../features/applications/acts.ts'
import { clientFinder } from '../features/applications/storage.ts'
import type { ClockJump } from '../features/audit/acts.ts'
import type { HashKeyWatch } from '../features/hash-keys/acts.ts'
import type { AccountLinks, DeveloperRegistry } from '../features/people/acts.ts'
import type { OpenidProviderSettings } from '../features/people/openid-provider-options.ts'
import type { ResourceServerRegistry } from '../features/resource-servers/acts.ts'
import type { ResourceServer } from '../features/resource-servers/storage.ts'
import { listingStorage } from '../features/search/listings.ts'
import type { TrustedIssuerRegistry } from '../features/trusted-issuers/acts.ts'
import type { WebhookSender } from '../features/webhook/delivery.ts'
import { assertionStorage } from '../oauth/assertion-storage.ts'
import type { IdentityAuthenticator } from '../oauth/authenticate-by-identity.ts'
import type { AuthenticateClient } from '../oauth/authenticate-client.ts'
import { failureStorage } from '../oauth/failure-storage.ts'
import type { Format } from '../oauth/protocol-error.ts'
import type { SigningKeys } from '../oauth/signing-keys.ts'
import { tokenStorage } from '../oauth/token-storage.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Perform } from '../storage/act.ts'
import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import type { RegisteredClient } from '../storage/application.ts'
import type { Actor } from '../storage/audit-storage.ts'
import type { Database, OpenDatabase } from '../storage/database.ts'
import { createSqlActivity } from '../storage/sql-activity.ts'

/** Everything that a service stores. */
export type Storage = ReturnType<typeof createStorage>

/** What concurrent requests look for is read in batches. */
export function createStorage(open: OpenDatabase) {
  const { database } = open
  const parts = allParts(database)
  return {
    ...open,
    ...parts,
    applications: { ...parts.applications, findClient: clientFinder(database) },
    tokens: tokenStorage(database),
    failures: failureStorage(database),
    assertions: assertionStorage(database),
    activity: createSqlActivity(database),
    listings: listingStorage(database),
  }
}

/** The parts of a running service, which its endpoints and its portal use. */
export interface ServiceContext {
  readonly storage: Storage
  readonly database: Database
  /** Changes something together with its entry in the audit log. */
  readonly perform: Perform
  /** The same with every part of the storage. */
  readonly act: Act
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
  readonly webhookSender: Pick<WebhookSender, 'attempt'>
  /** Set while nothing is deleted, until an administrator confirms the clock. */
  readonly clockJump: () => ClockJump | undefined
  /** Keys that secrets need and that are not configured, as of the last minute. */
  readonly missingHashKeys: HashKeyWatch['missing']
  readonly signingKeys: SigningKeys
  /** The registry; the audit log names the actor. */
  readonly registryFor: (by: Actor) => ApplicationRegistry
  readonly resourceServersFor: (by: Actor) => ResourceServerRegistry
  readonly trustedIssuersFor: (by: Actor) => TrustedIssuerRegistry
  readonly developersFor: (by: Actor) => DeveloperRegistry
  readonly linksFor: (by: Actor) => AccountLinks
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
