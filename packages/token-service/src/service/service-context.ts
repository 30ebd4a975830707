import type { ActivityRecorder } from '../activity/activity-recorder.ts'
import type { RegisteredClient } from '../applications/application.ts'
import type { ResourceServer } from '../applications/resource-server.ts'
import type { AuthenticateClient } from '../authentication/authenticate-client.ts'
import type { Keyring } from '../secret-hashing/keyring.ts'
import type { Clock } from '../platform/clock.ts'
import type { ErrorFormat } from '../protocol/protocol-error.ts'
import type { GrantTypeIn } from '../protocol/oauth-parameters.ts'
import type { AccountLinks } from '../registry/account-links.ts'
import type { Actor, ApplicationRegistry } from '../registry/application-registry.ts'
import type { DeveloperRegistry } from '../registry/developer-registry.ts'
import type { ResourceServerRegistry } from '../registry/resource-server-registry.ts'
import type { Storage } from '../storage/storage.ts'

/** The parts of a running service, which its endpoints and its portal use. */
export interface ServiceContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
  /** The registry; the audit log names the actor. */
  readonly registryFor: (by: Actor) => ApplicationRegistry
  readonly resourceServersFor: (by: Actor) => ResourceServerRegistry
  readonly developersFor: (by: Actor) => DeveloperRegistry
  readonly accountLinks: AccountLinks
  readonly authenticateApplication: AuthenticateClient<RegisteredClient>
  readonly authenticateResourceServer: AuthenticateClient<ResourceServer>
  /** The format of the token endpoint's errors. */
  readonly errors: ErrorFormat
  readonly grantTypeIn: GrantTypeIn
  /** The URL that clients use; `undefined`: the one in the request. */
  readonly publicUrl: string | undefined
  /** Logs an error; failures of the storage at most once a minute. */
  readonly logFailure: (error: unknown) => void
  /** Deletes every token and failure, and restores the configured applications. */
  readonly reset: () => Promise<void>
  /** Writes pending activity and closes the storage. */
  close(): Promise<void>
}
