import type { FastifyPluginAsync } from 'fastify'
import type { ActivityRecorder } from '../activity/activity-recorder.ts'
import type { AuthenticateApplication } from '../authentication/authenticate-application.ts'
import type { AuthenticateResourceServer } from '../authentication/authenticate-resource-server.ts'
import type { Keyring } from '../secret-hashing/keyring.ts'
import type { Clock } from '../platform/clock.ts'
import type { ErrorShape } from '../protocol/error-body.ts'
import type { AccountLinks } from '../registry/account-links.ts'
import type { Actor, ApplicationRegistry } from '../registry/application-registry.ts'
import type { Storage } from '../storage/storage.ts'

/** The parts of a running service, which its endpoints and its portal use. */
export interface ServiceContext {
  readonly storage: Storage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly activity: ActivityRecorder
  /** The registry; the audit log names the actor. */
  readonly registryFor: (by: Actor) => ApplicationRegistry
  readonly accountLinks: AccountLinks
  readonly authenticateApplication: AuthenticateApplication
  readonly authenticateResourceServer: AuthenticateResourceServer
  /** The shape of the token endpoint's errors. */
  readonly errors: ErrorShape
  /** The URL that clients use; `undefined`: the one in the request. */
  readonly publicUrl: string | undefined
  /** Deletes every token and failure, and restores the configured applications. */
  readonly reset: () => Promise<void>
  /** Writes pending activity and closes the storage. */
  close(): Promise<void>
}

/** A portal that the service mounts, such as the one of `@tokenwell/developer-portal`. */
export interface DeveloperPortal {
  readonly plugin: FastifyPluginAsync<{ readonly service: ServiceContext }>
  /** The path of an invitation, under the service's URL. */
  joinPath(token: string): string
  /** The path of a link to set a new password, under the service's URL. */
  passwordPath(token: string): string
}
