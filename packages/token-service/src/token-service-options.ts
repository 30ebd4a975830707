import type { ApplicationStatus, ResponseForm } from './applications/application.ts'
import { systemClock, type Clock } from './clock.ts'

/** An application that exists when the service starts. */
export interface ApplicationOptions {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  /** The API products its tokens are good for. @default [] */
  readonly products?: readonly string[] | undefined
  /** @default '' */
  readonly level?: string | undefined
  /** Which of the two forms of the token response it is answered in. @default 'products' */
  readonly responseForm?: ResponseForm | undefined
  /** How long its tokens live, in seconds. @default 3600 */
  readonly lifetimeSeconds?: number | undefined
  /** Only an approved application gets tokens. @default 'approved' */
  readonly status?: ApplicationStatus | undefined
  /** The project it belongs to, made when there is none of that name. @default 'default' */
  readonly project?: string | undefined
}

/** Someone who may ask about tokens: an API that accepts them (RFC 7662 section 2.1). */
export interface ResourceServerOptions {
  readonly clientId: string
  readonly clientSecret: string
}

export interface TokenServiceOptions {
  /** `0` takes a free one. @default 0 */
  readonly port?: number | undefined
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
  /** The shape of the token endpoint's errors: the gateway's own, or RFC 6749 section 5.2. @default 'classic' */
  readonly errors?: 'classic' | 'rfc6749' | undefined
  readonly applications?: readonly ApplicationOptions[] | undefined
  readonly resourceServers?: readonly ResourceServerOptions[] | undefined
  /** Keys of at least 32 characters under which secrets are hashed, the newest first. @default one made at start */
  readonly keys?: readonly string[] | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

export interface ResolvedOptions {
  readonly errors: 'classic' | 'rfc6749'
  readonly applications: readonly ApplicationOptions[]
  readonly resourceServers: readonly ResourceServerOptions[]
  readonly keys: readonly string[] | undefined
  readonly clock: Clock
}

export function resolveOptions(options: TokenServiceOptions): ResolvedOptions {
  return {
    errors: options.errors ?? 'classic',
    applications: options.applications ?? [],
    resourceServers: options.resourceServers ?? [],
    keys: options.keys,
    clock: options.clock ?? systemClock,
  }
}
