import type { FastifyBaseLogger } from 'fastify'
import type { PublicKeyOptions } from '../features/credentials/public-keys.ts'
import type {
  ApplicationStatus,
  DpopUse,
  IdentityRule,
  ResponseForm,
  TokenFormat,
} from '../storage/application.ts'
import type { Clock } from '../runtime/clock.ts'

// The published declarations consist of these types, so they do not derive from the schemas that check them.

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
  /** Fetches the JWK set at a `jwksUrl`. @default a `fetch` that allows public addresses and `jwksAllowedHosts` */
  readonly fetchKeys?: typeof fetch | undefined
  /** A pino logger. @default no log */
  readonly logger?: FastifyBaseLogger | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
}

/** An application that is created when the service starts. */
export interface ApplicationOptions extends PublicKeyOptions {
  readonly name: string
  readonly clientId: string
  /** Required without a public key. */
  readonly clientSecret?: string | undefined
  /** When `clientSecret` expires, as an ISO 8601 date. @default never */
  readonly clientSecretExpiresAt?: string | undefined
  /** The API products that its tokens are valid for. @default [] */
  readonly products?: readonly string[] | undefined
  /** The scopes that its tokens can have (RFC 6749, section 3.3); a request can narrow them. @default [] */
  readonly scopes?: readonly string[] | undefined
  /** @default '' */
  readonly level?: string | undefined
  /** The format of its token responses. @default 'products' */
  readonly responseForm?: ResponseForm | undefined
  /** The lifetime of its tokens in seconds. @default 3600 */
  readonly lifetimeSeconds?: number | undefined
  /** `jwt`: access tokens that APIs verify themselves (RFC 9068); requires `audiences`. @default 'opaque' */
  readonly tokenFormat?: TokenFormat | undefined
  /**
   * Whether its tokens are bound to a key of the client (RFC 9449): never, if a token request has a DPoP proof, or always.
   * @default 'allowed'
   */
  readonly dpop?: DpopUse | undefined
  /** The APIs that its tokens are for (`aud`); a request can narrow them with `resource` (RFC 8707). @default [] */
  readonly audiences?: readonly string[] | undefined
  /** Further claims of its JWTs, such as `{ tenant: 'a' }`. @default {} */
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  /** Tokens are issued only to approved applications. @default 'approved' */
  readonly status?: ApplicationStatus | undefined
  /** Its project, which is created if it does not exist. @default 'default' */
  readonly project?: string | undefined
  /** The organisation of the project, if it is created. @default 'example-org' */
  readonly organizationName?: string | undefined
  /** The developer email of the project, if it is created. @default 'developer@example.com' */
  readonly developerEmail?: string | undefined
}

/** An API that may introspect tokens. It is registered when the service starts. */
export interface ResourceServerOptions extends PublicKeyOptions {
  readonly clientId: string
  /** Required without a public key. */
  readonly clientSecret?: string | undefined
  /** @default its client ID */
  readonly name?: string | undefined
  /** Tokens for other APIs (`aud`) are inactive for it. @default it may introspect every token */
  readonly audiences?: readonly string[] | undefined
}

/** An API product of the catalogue. */
export interface ProductOptions {
  readonly name: string
  /** For the developers who choose products. */
  readonly description?: string | undefined
}

/** A scope of the catalogue, and the API that it belongs to. */
export interface ScopeOptions {
  readonly name: string
  /** The `aud` of the tokens that may have it. @default those of every API */
  readonly audience?: string | undefined
  /** For the developers who choose scopes. */
  readonly description?: string | undefined
}

/** An issuer whose JWTs are exchanged for access tokens. In the configuration alone; others are added over HTTP. */
export interface TrustedIssuerOptions {
  /** The `iss` of its JWTs, character by character. */
  readonly issuer: string
  /** The https URL of its JWK set. @default the one in its metadata (RFC 8414, or OpenID Connect Discovery) */
  readonly jwksUrl?: string | undefined
  /** Its JWK set, instead of a URL. */
  readonly jwks?: { readonly keys: readonly object[] } | undefined
  /** The `aud` of its JWTs. @default the issuer or the token endpoint of this service */
  readonly audiences?: readonly string[] | undefined
  /** Accepts each JWT once, by its `jti`. Kubernetes and Google Cloud send one JWT repeatedly. @default false */
  readonly detectReplay?: boolean | undefined
  /** Which application a JWT stands for: exactly one must be found. */
  readonly rules: readonly IdentityRule[]
}
