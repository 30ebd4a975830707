import type { Clock, FetchLike, TokenError } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import type { DpopOptions } from '../checks/dpop-proofs.ts'
import type { IntrospectionOptions } from '../checks/introspection-check.ts'
import type { IssuerOptions } from '../checks/jwt-check.ts'
import type { RejectionReason } from '../http/rejection-reason.ts'
import type { TokenVerificationError, TokenVerificationErrorCode } from '../http/token-verification-error.ts'

/**
 * How tokens are checked: by `introspection`, by the signatures of an `issuer`, or by either, depending on the token's
 * format.
 */
export interface TokenVerifierOptions extends Partial<IssuerOptions> {
  /**
   * Checks opaque tokens at the authorization server (RFC 7662); JWTs too, unless there is an `issuer`. Its responses must
   * state `iss` if there are several issuers.
   */
  readonly introspection?: IntrospectionOptions | undefined
  /**
   * Several issuers instead of `issuer`: a list, or a function that is called with the `iss` of each JWT that is not cached,
   * before its signature is checked, and of each introspection response. It returns undefined for an issuer that is not
   * accepted. Each has its own keys.
   */
  readonly issuers?:
    | readonly IssuerOptions[]
    | ((issuer: string) => IssuerOptions | undefined | Promise<IssuerOptions | undefined>)
    | undefined
  /**
   * Whether JWTs are introspected as well, so that revoked ones are rejected, and others have only those of their scopes,
   * products and audiences that the response still states; requires `introspection`. @default false
   */
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
  /** How far the issuer's clock may be off. @default 5 */
  readonly clockToleranceSeconds?: number | undefined
  /**
   * How long an issuer's keys are used while they cannot be loaded again, counted from when they were loaded. They are
   * loaded again every 10 minutes, and for an unknown key ID. @default 3_600_000
   */
  readonly maxKeyAgeMs?: number | undefined
  /** Tokens bound to a key (RFC 9449) are accepted only with a proof, with or without these options. */
  readonly dpop?: DpopOptions | undefined
  /** URL of this API as clients know it, for proofs; required behind a proxy. @default from each request */
  readonly publicUrl?: string | URL | undefined
  /** Maximum number of cached results, counted separately for valid and invalid tokens. @default 10_000 */
  readonly maxCachedTokens?: number | undefined
  /** The `realm` of challenges. @default 'api' */
  readonly realm?: string | undefined
  /**
   * Bodies of error responses: `{ error, error_description }`, the faults of the platform's gateway, those of NestJS
   * (`{ statusCode, message, error }`), or your own.
   * @default 'standard'
   */
  readonly errors?: 'standard' | 'platform' | 'nest' | ((error: TokenVerificationError) => object) | undefined
  /** Called with every event. */
  readonly onEvent?: VerificationEventListener | undefined
  /** Requests introspections, metadata and keys. @default the global fetch, looked up at each request */
  readonly fetch?: FetchLike | undefined
  /** Allows plain HTTP to hosts other than loopback. @default false */
  readonly allowInsecureRequests?: boolean | undefined
  /**
   * Keeps a check alive that other requests wait for (Cloudflare Workers: `import { waitUntil } from
   * 'cloudflare:workers'`). Without it, requests there do not share checks, only their results.
   */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Tells the time, such as in tests. @default the system clocks */
  readonly clock?: Clock | undefined
}

/** What a verifier reports about its work. Holds no token and no secret. */
export type VerificationEvent =
  | {
      readonly type: 'request_accepted'
      readonly clientId: string | undefined
      /** Whether the result came from the cache. */
      readonly cached: boolean
      /** Whether the request carries no token, on a route where that is allowed. */
      readonly anonymous: boolean
    }
  | {
      readonly type: 'request_rejected'
      readonly code: TokenVerificationErrorCode
      readonly status: number
      readonly clientId: string | undefined
      /** Why the token was rejected: what it has, and what was expected. */
      readonly reason?: RejectionReason | undefined
      /** Why the token could not be checked, with the code `unavailable`. Holds no secret. */
      readonly error?: TokenError | undefined
    }
  | {
      /** A token was checked: by a request to the introspection endpoint, or by its signature. */
      readonly type: 'token_checked'
      readonly method: 'introspection' | 'jwt'
      /** `failed`: it could not be checked. */
      readonly result: 'valid' | 'invalid' | 'failed'
      readonly durationMs: number
    }

export type VerificationEventListener = (event: VerificationEvent) => void

/** The longest delay of a timer; a longer one fires at once. */
const maxDelayMs = 2 ** 31 - 1

/** @throws {TokenError} naming the option, for numbers out of range and for a `publicUrl` that is not an HTTP URL */
export function checkOptions({
  introspection,
  issuers,
  dpop = {},
  clockToleranceSeconds,
  maxKeyAgeMs,
  maxCachedTokens,
  publicUrl,
}: TokenVerifierOptions): void {
  const listed = typeof issuers === 'object' ? issuers : []
  for (const each of [introspection, ...listed.map((one) => one.introspection)]) checkIntrospection(each)
  checkNumber('maxCachedTokens', maxCachedTokens, isPositiveInteger, 'a positive integer')
  checkNumber('clockToleranceSeconds', clockToleranceSeconds, isDuration, 'a finite number, 0 or more')
  checkNumber('maxKeyAgeMs', maxKeyAgeMs, isPositive, 'a positive number')
  checkNumber(
    'dpop.maxAgeSeconds',
    dpop.maxAgeSeconds,
    (value) => isDuration(value) && value > 0,
    'a positive, finite number',
  )
  checkNumber('dpop.maxProofs', dpop.maxProofs, isNotNegative, 'a number, 0 or more')
  if (publicUrl !== undefined && !isHttpUrl(publicUrl)) {
    throw configurationError(
      'publicUrl is not a valid URL. Include the scheme, as in https://api.example.com.',
    )
  }
}

function checkIntrospection(introspection: IntrospectionOptions | undefined): void {
  const { cacheMs, staleIfErrorMs, timeoutMs, maxConnections, maxWaiting } =
    introspection ?? ({} as Partial<IntrospectionOptions>)
  checkNumber('introspection.cacheMs', cacheMs, isNotNegative, 'a number, 0 or more')
  checkNumber('introspection.staleIfErrorMs', staleIfErrorMs, isNotNegative, 'a number, 0 or more')
  checkNumber(
    'introspection.timeoutMs',
    timeoutMs,
    (value) => value > 0 && value <= maxDelayMs,
    `a positive number, at most ${maxDelayMs}`,
  )
  checkNumber('introspection.maxConnections', maxConnections, isPositiveInteger, 'a positive integer')
  checkNumber('introspection.maxWaiting', maxWaiting, isNotNegative, 'a number, 0 or more')
}

function checkNumber(
  option: string,
  value: number | undefined,
  isValid: (value: number) => boolean,
  expected: string,
): void {
  if (value === undefined || (typeof value === 'number' && isValid(value))) return
  throw configurationError(`${option} must be ${expected}.`)
}

const isPositiveInteger = (value: number): boolean => Number.isSafeInteger(value) && value > 0
const isPositive = (value: number): boolean => value > 0
const isDuration = (value: number): boolean => Number.isFinite(value) && value >= 0
const isNotNegative = (value: number): boolean => value >= 0

function isHttpUrl(value: string | URL): boolean {
  // Without a scheme, `localhost:8080` parses as a URL with the scheme `localhost:`.
  return URL.canParse(String(value)) && /^https?:$/.test(new URL(value).protocol)
}
