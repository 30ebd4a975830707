import type { ClientAuthentication, ClientAuthenticationMethod, Clock, FetchLike } from '@tokenwell/core'
import type { JWK } from 'jose'
import type { TokenVerificationError } from '../rejection/token-verification-error.ts'
import type { VerificationEventListener } from './verification-event.ts'

/**
 * How tokens are checked: by `introspection`, by the signatures of an `issuer`, or by either, depending on the token's
 * format.
 */
export interface TokenVerifierOptions {
  /** Checks opaque tokens at the authorization server (RFC 7662); JWTs too, unless there is an `issuer`. */
  readonly introspection?: IntrospectionOptions | undefined
  /** Issuer of JWT access tokens (RFC 9068), as in their `iss`. They are then checked by their signature. */
  readonly issuer?: string | undefined
  /**
   * Several issuers instead of `issuer`: a list, or a function that is called with the `iss` of each JWT that is not cached,
   * before its signature is checked, and returns undefined for an issuer that is not accepted. Each has its own keys.
   */
  readonly issuers?:
    | readonly IssuerOptions[]
    | ((issuer: string) => IssuerOptions | undefined | Promise<IssuerOptions | undefined>)
    | undefined
  /** Whether JWTs are introspected as well, so that revoked ones are rejected; requires `introspection`. @default false */
  readonly checkRevocation?: boolean | undefined
  /**
   * URL of this API as clients know it. Its metadata (RFC 9728) is served, and challenges name it, so that clients such as
   * those of the Model Context Protocol find the authorization server. It is the default of `audience`.
   */
  readonly resource?: string | URL | undefined
  /** The scopes of this API, for its metadata. */
  readonly scopesSupported?: readonly string[] | undefined
  /** The issuers that the metadata names. @default the issuers in the other options, or `introspection.authUrl` */
  readonly authorizationServers?: readonly string[] | undefined
  /** The `aud` values that identify this API; one is enough. Introspection responses without `aud` are accepted. */
  readonly audience?: string | readonly string[] | undefined
  /** URL of the issuer's public keys. @default the `jwks_uri` of its metadata (RFC 8414, OpenID Connect) */
  readonly jwksUrl?: string | URL | undefined
  /** The issuer's public keys themselves. */
  readonly jwks?: { readonly keys: readonly JWK[] } | undefined
  /** Signature algorithms that are accepted. @default RS, PS and ES with 256, 384 or 512 bits, EdDSA and Ed25519 */
  readonly algorithms?: readonly string[] | undefined
  /**
   * The `typ` of access tokens. Some servers use `JWT`, even for tokens that are not access tokens.
   * @default 'at+jwt'
   */
  readonly typ?: string | undefined
  /** How far the issuer's clock may be off. @default 5 */
  readonly clockToleranceSeconds?: number | undefined
  /** Tokens bound to a key (RFC 9449) are accepted only with a proof, with or without these options. */
  readonly dpop?: DpopOptions | undefined
  /** URL of this API as clients know it, for proofs; required behind a proxy. @default from each request */
  readonly publicUrl?: string | URL | undefined
  /** Maximum number of cached results, counted separately for valid and invalid tokens. @default 10_000 */
  readonly maxCachedTokens?: number | undefined
  /** The `realm` of challenges. @default 'api' */
  readonly realm?: string | undefined
  /**
   * Bodies of error responses: `{ error, error_description }`, the faults of the platform's gateway, or your own.
   * @default 'standard'
   */
  readonly errors?: 'standard' | 'platform' | ((error: TokenVerificationError) => object) | undefined
  readonly onEvent?: VerificationEventListener | undefined
  /** @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Allows plain HTTP to hosts other than loopback. @default false */
  readonly allowInsecureRequests?: boolean | undefined
  /**
   * Keeps a check alive that other requests wait for (Cloudflare Workers: `import { waitUntil } from
   * 'cloudflare:workers'`). Without it, requests there do not share checks, only their results.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** @default the system clocks */
  readonly clock?: Clock | undefined
}

/** One of several issuers of JWT access tokens. */
export interface IssuerOptions extends Pick<
  TokenVerifierOptions,
  'audience' | 'jwksUrl' | 'jwks' | 'algorithms' | 'typ'
> {
  /** Exactly as in `iss`. */
  readonly issuer: string
}

/** Where tokens are introspected, and this API's own credentials there. Pass `authUrl` or `introspectionUrl`. */
export interface IntrospectionOptions {
  /** Base URL of the platform's token service. */
  readonly authUrl?: string | URL | undefined
  /** URL of any other RFC 7662 introspection endpoint. */
  readonly introspectionUrl?: string | URL | undefined
  readonly clientId: string
  /** A function is called before each request. */
  readonly clientSecret?: string | (() => string | Promise<string>) | undefined
  /** @default 'client_secret_basic' */
  readonly clientAuthentication?: ClientAuthenticationMethod | ClientAuthentication | undefined
  /** How long a result is reused, valid or not; never past the token's expiry. @default 10_000 */
  readonly cacheMs?: number | undefined
  /** How much longer a result is reused while the endpoint cannot be reached. @default 0 */
  readonly staleIfErrorMs?: number | undefined
  /** Deadline for a check, waiting included. @default 5_000 */
  readonly timeoutMs?: number | undefined
  /** Maximum number of concurrent requests to the endpoint. @default 10 */
  readonly maxConnections?: number | undefined
  /** Maximum number of checks that wait for a connection; beyond it, unknown tokens get a 503. @default 1_000 */
  readonly maxWaiting?: number | undefined
}

/** How proofs of possession are checked (RFC 9449). With this option, challenges offer DPoP. */
export interface DpopOptions {
  /** Rejects tokens that are not bound to a key. @default false */
  readonly required?: boolean | undefined
  /** @default ES256, ES384, ES512, EdDSA, Ed25519, RS256 and PS256 */
  readonly algorithms?: readonly string[] | undefined
  /** Maximum age of a proof. @default 60 */
  readonly maxAgeSeconds?: number | undefined
  /** Maximum number of proofs remembered, so that none is accepted twice; beyond it, requests get a 503. @default 200_000 */
  readonly maxProofs?: number | undefined
  /**
   * Remembers a proof for several processes, until it expires; returns false if it is already known. If it throws, or
   * takes longer than 5 s, the request gets a 503.
   * @default the memory of this process
   */
  readonly rememberProof?: ((id: string, until: Date) => boolean | Promise<boolean>) | undefined
}
