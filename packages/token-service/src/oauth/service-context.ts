import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import type { RegisteredClient } from '../storage/application.ts'
import type { ResourceServer, Storage } from '../storage/storage.ts'
import type { IdentityAuthenticator } from './authenticate-by-identity.ts'
import type { AuthenticateClient } from './authenticate-client.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { OpenidProviderSettings } from '../features/people/openid-provider-options.ts'
import type { Clock } from '../runtime/clock.ts'
import type { ErrorFormat } from './protocol-error.ts'
import type { GrantTypeIn } from './oauth-parameters.ts'
import type { HashKeyWatch } from '../features/hash-keys/acts.ts'
import type { AccountLinks } from '../features/people/account-links.ts'
import type { Act } from '../features/acts.ts'
import type { ApplicationRegistry } from '../features/applications/acts.ts'
import type { Perform } from '../storage/act.ts'
import type { Database } from '../storage/sql/database.ts'
import type { Actor } from '../storage/audit-storage.ts'
import type { DeveloperRegistry } from '../features/people/acts.ts'
import type { ResourceServerRegistry } from '../features/resource-servers/acts.ts'
import type { TrustedIssuerRegistry } from '../features/trusted-issuers/acts.ts'
import type { ServiceContext as FeatureContext } from '../features/service-context.ts'
import type { Purge } from './purge-expired.ts'
import type { SigningKeys } from './signing-keys.ts'

/** The parts of a running service, which its endpoints and its portal use. */
export interface ServiceContext extends FeatureContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
  readonly database: Database
  readonly perform: Perform
  /** Changes something together with its entry in the audit log. */
  readonly act: Act
  /** Set while nothing is deleted, until an administrator confirms the clock. */
  readonly clockJump: Purge['clockJump']
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
  /** The format of the token endpoint's errors. */
  readonly errors: ErrorFormat
  readonly grantTypeIn: GrantTypeIn
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
