import type { FastifyBaseLogger } from 'fastify'
import type { FailureLimit } from '../authentication/failed-attempt-limit.ts'
import { allowedRanges } from '../authentication/internal-addresses.ts'
import { systemClock, type Clock } from '../platform/clock.ts'
import { UsageError } from '../platform/usage-error.ts'
import type { ErrorShape } from '../protocol/protocol-error.ts'
import {
  rejectDuplicates,
  rejectWithoutCredentials,
  rejectWeakSecrets,
  type ApplicationOptions,
  type ResolvedApplication,
} from '../registry/application-options.ts'
import { resolveApplications } from '../registry/application-schema.ts'
import type { ResourceServerOptions } from '../registry/seed-resource-servers.ts'
import { parseStorageLocation, type StorageLocation } from '../storage/open-storage.ts'
import { parseTrustProxy, type TrustProxy } from '../http/trust-proxy.ts'

export interface AdminOptions {
  readonly token: string
  /** `0`: a free port. @default 0 */
  readonly port?: number | undefined
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
}

export interface TokenServiceOptions {
  /** `0`: a free port. @default 0 */
  readonly port?: number | undefined
  /** The address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined
  /** `memory`, `sqlite:FILE` or a `postgres://` URL. @default 'memory' */
  readonly storage?: string | undefined
  /**
   * Keys of at least 32 characters that secrets are hashed with, newest first. Required with PostgreSQL.
   * @default a random key; with SQLite, the key in the file `FILE.keys`
   */
  readonly keys?: readonly string[] | undefined
  /** The format of the token endpoint's errors: the platform's, or that of RFC 6749, section 5.2. @default 'classic' */
  readonly errors?: ErrorShape | undefined
  /** Applications that are created if they do not exist. @default [] */
  readonly applications?: readonly ApplicationOptions[] | undefined
  /** Products that are added to the catalogue, besides those of `applications`. @default ['speech-to-text'] */
  readonly products?: readonly string[] | undefined
  /**
   * How long the previous secret of a configured application or resource server stays valid after the configuration changes, in seconds.
   * `0`: it expires at once. @default 86400
   */
  readonly secretOverlapSeconds?: number | undefined
  /** APIs that may introspect tokens; created if they do not exist. @default [] */
  readonly resourceServers?: readonly ResourceServerOptions[] | undefined
  /** How many attempts from one address for one client may fail. @default 10 in 60 seconds */
  readonly failureLimit?:
    | { readonly attempts?: number | undefined; readonly windowSeconds?: number | undefined }
    | undefined
  /** The URL that clients use, if it differs from the service's own. @default from the `Host` header */
  readonly publicUrl?: string | undefined
  /**
   * Origins whose pages may request and introspect tokens, such as browser-based API tools; `*`: all. Never publish a
   * page that contains a client secret.
   * @default []
   */
  readonly corsOrigins?: readonly string[] | undefined
  /**
   * Proxies that are trusted to report client addresses: the number of hops, or a comma-separated list of addresses, CIDR
   * ranges and `loopback`, `linklocal`, `uniquelocal`. `true` trusts everybody. @default false
   */
  readonly trustProxy?: boolean | number | string | undefined
  /** Serves the developer portal, with the API reference. @default false */
  readonly portal?: boolean | undefined
  /**
   * For tests: a second listener on loopback that injects faults, moves the clock, records requests and resets
   * the service. Not available with PostgreSQL. @default false
   */
  readonly sandbox?: boolean | { readonly port?: number | undefined } | undefined
  /** Serves `/metrics`. @default true, false with memory storage */
  readonly metrics?: boolean | undefined
  /** How long the audit log is kept. @default 365 */
  readonly auditRetentionDays?: number | undefined
  /** How long the hourly counts of token requests, which the portal shows, are kept. @default 365 */
  readonly usageRetentionDays?: number | undefined
  /**
   * A second listener, for administrators and for `/metrics`, which the main listener then does not serve. Requests
   * require the token, of at least 32 characters. @default none
   */
  readonly admin?: AdminOptions | undefined
  /**
   * Hosts, addresses and CIDR ranges of internal networks that a `jwksUrl` may point to. All others must have public
   * addresses, because developers choose them.
   * @default []
   */
  readonly jwksAllowedHosts?: readonly string[] | undefined
  /** Fetches the JWK set at a `jwksUrl`. @default a `fetch` that allows public addresses and `jwksAllowedHosts` */
  readonly fetchKeys?: typeof fetch | undefined
  /** A pino logger. @default no log */
  readonly logger?: FastifyBaseLogger | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
}

export interface ResolvedOptions {
  readonly host: string
  readonly port: number
  readonly storage: StorageLocation
  readonly keys: readonly string[] | undefined
  readonly errors: ErrorShape
  readonly applications: readonly ResolvedApplication[]
  readonly products: readonly string[]
  readonly secretOverlapSeconds: number
  readonly resourceServers: readonly ResourceServerOptions[]
  readonly failureLimit: FailureLimit
  readonly publicUrl: string | undefined
  readonly corsOrigins: readonly string[]
  readonly trustProxy: TrustProxy
  readonly portal: boolean
  readonly sandbox: { readonly port: number } | undefined
  readonly metrics: boolean
  readonly auditRetentionDays: number
  readonly usageRetentionDays: number
  readonly jwksAllowedHosts: readonly string[]
  readonly admin: AdminOptions | undefined
  readonly fetchKeys: typeof fetch | undefined
  readonly logger: FastifyBaseLogger | undefined
  readonly clock: Clock
}

export function hasMetricsByDefault({ kind }: StorageLocation): boolean {
  return kind !== 'memory'
}

export function resolveOptions(options: TokenServiceOptions): ResolvedOptions {
  const storage = parseStorageLocation(options.storage ?? 'memory')
  if (storage.kind === 'postgres' && !options.keys?.length) {
    throw new UsageError(
      'keys is missing. PostgreSQL storage requires at least one key of 32 or more random characters, the same for every instance.',
    )
  }
  if (storage.kind === 'postgres' && options.sandbox) {
    throw new UsageError(
      'The sandbox is not available with PostgreSQL storage. Use memory or SQLite storage.',
    )
  }
  if (options.admin && options.admin.token.length < 32) {
    throw new UsageError('admin.token is too short. Use 32 or more random characters.')
  }
  const jwksAllowedHosts = options.jwksAllowedHosts ?? []
  allowedRanges(jwksAllowedHosts)
  const applications = resolveApplications(options.applications ?? [])
  const resourceServers = options.resourceServers ?? []
  rejectDuplicates('resourceServers', resourceServers)
  rejectWithoutCredentials('resourceServers', resourceServers)
  if (storage.kind !== 'memory') {
    rejectWeakSecrets('applications', applications)
    rejectWeakSecrets('resourceServers', resourceServers)
  }
  return {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 0,
    storage,
    keys: options.keys,
    errors: options.errors ?? 'classic',
    applications,
    products: options.products ?? ['speech-to-text'],
    secretOverlapSeconds: options.secretOverlapSeconds ?? 86_400,
    resourceServers,
    failureLimit: {
      attempts: options.failureLimit?.attempts ?? 10,
      windowSeconds: options.failureLimit?.windowSeconds ?? 60,
    },
    publicUrl: options.publicUrl?.replace(/\/+$/, ''),
    corsOrigins: options.corsOrigins ?? [],
    trustProxy: parseTrustProxy(options.trustProxy ?? false),
    portal: options.portal ?? false,
    sandbox: options.sandbox ? { port: (options.sandbox !== true && options.sandbox.port) || 0 } : undefined,
    metrics: options.metrics ?? hasMetricsByDefault(storage),
    auditRetentionDays: options.auditRetentionDays ?? 365,
    usageRetentionDays: options.usageRetentionDays ?? 365,
    jwksAllowedHosts,
    admin: options.admin,
    fetchKeys: options.fetchKeys,
    logger: options.logger,
    clock: options.clock ?? systemClock,
  }
}
