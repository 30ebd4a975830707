import type { FastifyBaseLogger } from 'fastify'
import type {
  ApplicationOptions,
  ResourceServerOptions,
  ProductOptions,
  ScopeOptions,
  TrustedIssuerOptions,
} from '../features/applications/options.ts'
import type { Clock } from '../runtime/clock.ts'

/** The OpenID provider through which people log in to the portal. */
export interface OpenidProviderOptions {
  /** As the log-in page names it: "Log in with …". */
  readonly name: string
  /** The issuer; its metadata names everything else (OpenID Connect Discovery). An https URL, or http on loopback. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** @default ['openid', 'profile'] */
  readonly scopes?: readonly string[] | undefined
  /** The claim with which a new developer is named. @default 'preferred_username' */
  readonly nameClaim?: string | undefined
  /** The claim that lists the groups of the person. @default 'groups' */
  readonly groupsClaim?: string | undefined
  /** Their members are administrators, and nobody else; empty: the portal decides who is one. @default [] */
  readonly administratorGroups?: readonly string[] | undefined
  /** Their members are developers; `*`: everybody whom the provider logs in. */
  readonly developerGroups: readonly string[] | '*'
  /** `false`: nobody logs in with a password. @default true */
  readonly localPasswords?: boolean | undefined
}

export interface TokenServiceOptions {
  /** `0`: a free port. @default 0 */
  readonly port?: number | undefined
  /** The address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined
  /** `memory` (SQLite in memory), `sqlite:FILE` or a `postgres://` URL. @default 'memory' */
  readonly storage?: string | undefined
  /**
   * Keys of at least 32 characters that secrets are hashed with, and signing keys are encrypted with, newest first. Required with PostgreSQL.
   * @default a random key; with SQLite, the key in the file `FILE.keys`
   */
  readonly secretHashKeys?: readonly string[] | undefined
  /**
   * `platform`: token requests have `grant_type` in the query, and errors the platform's format. `standard`: as RFC 6749 says; the
   * query is accepted as well. @default 'platform'
   */
  readonly format?: 'platform' | 'standard' | undefined
  /** The algorithm of JWT access tokens; a change takes effect when the signing key is rotated. @default 'ES256' */
  readonly signingAlgorithm?: 'ES256' | 'RS256' | 'EdDSA' | undefined
  /** Applications that are created if they do not exist. @default [] */
  readonly applications?: readonly ApplicationOptions[] | undefined
  /** APIs that may introspect tokens; created if they do not exist. @default [] */
  readonly resourceServers?: readonly ResourceServerOptions[] | undefined
  /** Issuers whose JWTs are exchanged for access tokens (RFC 7523, section 2.1). @default [] */
  readonly trustedIssuers?: readonly TrustedIssuerOptions[] | undefined
  /**
   * Products that are added to the catalogue, besides those of `applications`. What an object says of a product also applies
   * to one that exists. @default []
   */
  readonly products?: readonly (string | ProductOptions)[] | undefined
  /**
   * Scopes that are added to the catalogue, besides those of `applications`. What an object says of a scope also applies to
   * one that exists. @default []
   */
  readonly scopes?: readonly (string | ScopeOptions)[] | undefined
  /**
   * How long the previous secret of a configured application or resource server stays valid after the configuration changes, in seconds.
   * `0`: it expires at once. @default 86400
   */
  readonly secretOverlapSeconds?: number | undefined
  /** How many attempts from one address for one client may fail within a minute before further failures get status 429. @default 10 */
  readonly failureAttempts?: number | undefined

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
  /** The OpenID provider through which people log in to the portal. @default none: they have local passwords */
  readonly openidProvider?: OpenidProviderOptions | undefined
  /**
   * For tests: a second listener on loopback that injects faults, moves the clock, records requests and resets
   * the service; a number is its port. Not available with PostgreSQL. @default false
   */
  readonly sandbox?: boolean | number | undefined
  /** Serves `/metrics`. @default true, false with memory storage */
  readonly metrics?: boolean | undefined
  /** How long the audit log is kept. @default 365 */
  readonly auditRetentionDays?: number | undefined
  /** How long the hourly counts of token requests, which the portal shows, are kept. @default 365 */
  readonly usageRetentionDays?: number | undefined
  /**
   * The port of a second listener, for administrators and for `/metrics`, which the main listener then does not serve;
   * `0`: a free port. Requires `adminToken`. @default none
   */
  readonly adminPort?: number | undefined
  /** The address of the listener for administrators. @default '127.0.0.1' */
  readonly adminHost?: string | undefined
  /** The token of at least 32 characters that the requests of administrators carry. */
  readonly adminToken?: string | undefined
  /**
   * Hosts, addresses and CIDR ranges of internal networks that a `jwksUrl` may point to. All others must have public
   * addresses, because developers choose them.
   * @default []
   */
  readonly jwksAllowedHosts?: readonly string[] | undefined
  /**
   * Hosts, addresses and CIDR ranges of internal networks that the URL of the webhook may point to. By default, only
   * public addresses.
   * @default []
   */
  readonly webhookAllowedHosts?: readonly string[] | undefined
  /** Fetches the JWK set at a `jwksUrl`. @default a `fetch` that allows public addresses and `jwksAllowedHosts` */
  readonly fetchKeys?: typeof fetch | undefined
  /** A pino logger. @default no log */
  readonly logger?: FastifyBaseLogger | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
}
