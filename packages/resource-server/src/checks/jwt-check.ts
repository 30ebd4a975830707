import { TokenError } from '@tokenwell/core'
import {
  decodeJwt,
  errors,
  jwtVerify,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose'
import { LRUCache } from 'lru-cache'
import { errorCode } from '@tokenwell/core/protocol'
import { tokenError } from '../http/token-verification-error.ts'
import { createKeySource, type KeySourceOptions } from './key-source.ts'
import type { TokenCheck } from './token-check.ts'

/** An issuer of JWT access tokens, and which of its tokens are accepted. */
export interface IssuerOptions {
  /** Issuer of JWT access tokens (RFC 9068), exactly as in their `iss`. They are then checked by their signature. */
  readonly issuer: string
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
}

/** One issuer, and what applies to all of them. */
export interface JwtCheckOptions extends IssuerOptions, KeySourceOptions {
  readonly audience: NonNullable<IssuerOptions['audience']>
  readonly clockToleranceSeconds?: number | undefined
}

/** The options of the issuer whose `iss` this is; undefined if it is not accepted. */
export type FindIssuer = (
  issuer: string,
) => JwtCheckOptions | undefined | Promise<JwtCheckOptions | undefined>

/** Algorithms with a public key: a public key must never be used as a shared secret. */
const asymmetric = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')

/** Errors of jose that are the token's fault; any other means that it could not be checked. */
const tokenFaults = new Set([
  'ERR_JOSE_ALG_NOT_ALLOWED',
  'ERR_JOSE_NOT_SUPPORTED',
  'ERR_JWKS_NO_MATCHING_KEY',
  'ERR_JWS_INVALID',
  'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  'ERR_JWT_CLAIM_VALIDATION_FAILED',
  'ERR_JWT_EXPIRED',
  'ERR_JWT_INVALID',
])

/** Tenants whose keys are kept. */
const maxIssuers = 1_000

/** Checks JWT access tokens by the issuer that they name, never by a key that fits. */
export function createJwtCheck(findIssuer: FindIssuer): TokenCheck['check'] {
  const checks = new LRUCache<string, TokenCheck['check']>({ max: maxIssuers })
  return async (token, known) => {
    const issuer = issuerOf(token)
    const options = issuer === undefined ? undefined : await findIssuer(issuer)
    if (options === undefined) return undefined
    // Changed options of a tenant apply at once.
    const key = JSON.stringify(options)
    const check = checks.get(key) ?? createIssuerCheck(options)
    checks.set(key, check)
    return check(token, known)
  }
}

function issuerOf(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token)
    return typeof iss === 'string' ? iss : undefined
  } catch {
    return undefined
  }
}

/** RFC 9068, section 4. */
function createIssuerCheck(options: JwtCheckOptions): TokenCheck['check'] {
  const { issuer, audience, clock, typ = 'at+jwt' } = options
  const keys = createKeySource(options)
  const claims: JWTVerifyOptions = {
    issuer,
    audience: [audience].flat(),
    typ,
    algorithms: [...(options.algorithms ?? asymmetric)],
    clockTolerance: options.clockToleranceSeconds ?? 5,
    requiredClaims: typ === 'at+jwt' ? ['exp', 'sub', 'client_id', 'iat', 'jti'] : ['exp'],
  }
  return async (token) => {
    try {
      return await verify(token, keys, { ...claims, currentDate: new Date(clock.now()) })
    } catch (error) {
      if (error instanceof TokenError) throw error
      if (error instanceof errors.JOSEError && tokenFaults.has(error.code)) return undefined
      throw tokenError(
        'unavailable',
        `Could not load the keys of the issuer "${issuer}" (${errorCode(error)}).`,
      )
    }
  }
}

/** A token without a key ID is checked with every suitable key. */
async function verify(token: string, keys: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keys, options)).payload
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}
