import type { FastifyBaseLogger } from 'fastify'
import {
  resolveApplications,
  type ApplicationOptions,
  type ResolvedApplication,
} from './applications/application-options.ts'
import type { FailureLimit } from './authentication/failure-guard.ts'
import { systemClock, type Clock } from './clock.ts'
import type { ErrorShape } from './http/error-body.ts'
import { parseStorageLocation, type StorageLocation } from './storage/open-storage.ts'
import { UserMistake } from './user-mistake.ts'

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
  /** `memory`, `sqlite:FILE` or a `postgres://` URL. @default 'memory' */
  readonly storage?: string | undefined
  /**
   * Keys of at least 32 characters, the newest first, under which secrets are hashed. Required with PostgreSQL.
   * @default one made at start, or out of the file `FILE.keys` beside an SQLite database
   */
  readonly keys?: readonly string[] | undefined
  /** The shape of the token endpoint's errors: the gateway's own, or RFC 6749 section 5.2. @default 'classic' */
  readonly errors?: ErrorShape | undefined
  readonly applications?: readonly ApplicationOptions[] | undefined
  readonly resourceServers?: readonly ResourceServerOptions[] | undefined
  /** How many attempts of one address at one client may fail. @default 10 in 60 seconds */
  readonly failureLimit?:
    | { readonly attempts?: number | undefined; readonly windowSeconds?: number | undefined }
    | undefined
  /** What clients reach the service by, when that is not its own address. @default what they say in `Host` */
  readonly publicUrl?: string | undefined
  /** Proxies to believe about a client's address: as Fastify's `trustProxy`. @default false */
  readonly trustProxy?: boolean | string | undefined
  /**
   * For tests: a second listener on loopback that scripts faults, moves the clock, keeps a journal and starts over.
   * Refused on PostgreSQL. @default false
   */
  readonly sandbox?: boolean | { readonly port?: number | undefined } | undefined
  /** @default true, but false with memory storage */
  readonly metrics?: boolean | undefined
  /** A pino logger. @default nothing is logged */
  readonly logger?: FastifyBaseLogger | undefined
  /** @default the system's */
  readonly clock?: Clock | undefined
}

export interface ResolvedOptions {
  readonly storage: StorageLocation
  readonly keys: readonly string[] | undefined
  readonly errors: ErrorShape
  readonly applications: readonly ResolvedApplication[]
  readonly resourceServers: readonly ResourceServerOptions[]
  readonly failureLimit: FailureLimit
  readonly publicUrl: string | undefined
  readonly trustProxy: boolean | string
  readonly sandbox: { readonly port: number } | undefined
  readonly metrics: boolean
  readonly logger: FastifyBaseLogger | undefined
  readonly clock: Clock
}

export function resolveOptions(options: TokenServiceOptions): ResolvedOptions {
  const storage = parseStorageLocation(options.storage ?? 'memory')
  if (storage.kind === 'postgres' && !options.keys?.length) {
    throw new UserMistake(
      'PostgreSQL storage needs keys, the same for every instance: at least one of 32 or more random characters.',
    )
  }
  if (storage.kind === 'postgres' && options.sandbox) {
    throw new UserMistake(
      'The sandbox is for tests, and refused on PostgreSQL: use memory or SQLite storage.',
    )
  }
  return {
    storage,
    keys: options.keys,
    errors: options.errors ?? 'classic',
    applications: resolveApplications(options.applications ?? []),
    resourceServers: options.resourceServers ?? [],
    failureLimit: {
      attempts: options.failureLimit?.attempts ?? 10,
      windowSeconds: options.failureLimit?.windowSeconds ?? 60,
    },
    publicUrl: options.publicUrl?.replace(/\/+$/, ''),
    trustProxy: options.trustProxy ?? false,
    sandbox: options.sandbox ? { port: (options.sandbox !== true && options.sandbox.port) || 0 } : undefined,
    metrics: options.metrics ?? storage.kind !== 'memory',
    logger: options.logger,
    clock: options.clock ?? systemClock,
  }
}
