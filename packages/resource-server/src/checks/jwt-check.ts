import { TokenError } from '@tokenwell/core'
import { errorCode } from '@tokenwell/core/protocol'
import {
  decodeProtectedHeader,
  errors,
  type JWK,
  type JWTHeaderParameters,
  type JWTVerifyOptions,
} from 'jose'
import { LRUCache } from 'lru-cache'
import { oneOf, rejectionReason, timeOf, type RejectionReason } from '../http/rejection-reason.ts'
import { asymmetricAlgorithms } from './algorithms.ts'
import type { IntrospectionOptions } from './introspection-check.ts'
import { createIssuerKeys, type IssuerKeysOptions } from './issuer-keys.ts'
import type { KeySet } from './key-set.ts'
import { findRestriction, toVerifiedToken, type TokenRestrictions } from './requirements.ts'
import type { CheckResult, TokenCheck } from './token-check.ts'
import { unverifiedIssuer } from './unverified-jwt.ts'
import { findOtherType, isAnyType, type AcceptedType } from './token-type.ts'

/** An issuer of access tokens, and which of its tokens are accepted on every route. */
export interface IssuerOptions extends TokenRestrictions {
  /** Issuer of JWT access tokens (RFC 9068), exactly as in their `iss`. They are then checked by their signature. */
  readonly issuer: string
  /**
   * The `aud` values that identify this API; one is enough. Introspection responses without `aud` are accepted. With
   * `false`, only tokens without `aud` are accepted, and `clients` and `scopes` are required: an issuer that sets no
   * audience issues tokens for other APIs, too.
   */
  readonly audience?: string | readonly string[] | false | undefined
  /** URL of the issuer's public keys. @default the `jwks_uri` of its metadata (RFC 8414, OpenID Connect) */
  readonly jwksUrl?: string | URL | undefined
  /** The issuer's public keys themselves. */
  readonly jwks?: { readonly keys: readonly JWK[] } | undefined
  /**
   * Checks the tokens of this issuer at its introspection endpoint instead of by their signature: JWTs that name it, and
   * opaque tokens if there is no other endpoint. Not for issuers that a function returns.
   */
  readonly introspection?: IntrospectionOptions | undefined
  /** Signature algorithms that are accepted. @default RS, PS and ES with 256, 384 or 512 bits, EdDSA and Ed25519 */
  readonly algorithms?: readonly string[] | undefined
  /**
   * The `typ` of access tokens, or a list of types, for issuers that do not set that of RFC 9068; `false` for issuers that set
   * none. With `JWT` or `false`, `clients`, `scopes` or `claims` are required: ID tokens look the same. `clients: 'any'` is enough if every
   * audience is a URL, because that of an ID token is a client ID.
   * @default 'at+jwt', with all claims that RFC 9068 requires
   */
  readonly typ?: AcceptedType | undefined
}

/** One issuer, and what applies to all of them. */
export interface JwtCheckOptions extends IssuerOptions, IssuerKeysOptions {
  readonly audience: NonNullable<IssuerOptions['audience']>
  readonly clockToleranceSeconds?: number | undefined
}

/** The options of the issuer whose `iss` this is; why it is not accepted otherwise. */
export type FindIssuer = (
  issuer: unknown,
) => JwtCheckOptions | RejectionReason | Promise<JwtCheckOptions | RejectionReason>

/** Tenants whose keys are kept. */
const maxIssuers = 1_000

/** Checks JWT access tokens by the issuer that they name, never by a key that fits. */
export function createJwtCheck(findIssuer: FindIssuer): TokenCheck['check'] {
  /** Those of a list stay the same objects; a function may return others for the same issuer. */
  const prepared = new WeakMap<JwtCheckOptions, PreparedIssuer>()
  const keySets = new LRUCache<string, KeySet>({ max: maxIssuers })
  const prepare = (options: JwtCheckOptions): PreparedIssuer => {
    const { issuer, jwksUrl, jwks } = options
    const place = JSON.stringify([issuer, jwksUrl, jwks])
    const keys = keySets.get(place) ?? createIssuerKeys(options)
    keySets.set(place, keys)
    const found = { keys, requirements: requirementsOf(options) }
    prepared.set(options, found)
    return found
  }
  return async (token) => {
    const options = await findIssuer(unverifiedIssuer(token))
    return 'claim' in options
      ? { reason: options }
      : checkJwt(token, prepared.get(options) ?? prepare(options), options)
  }
}

interface PreparedIssuer {
  readonly keys: KeySet
  readonly requirements: JWTVerifyOptions & { readonly issuer: string }
}

function requirementsOf(options: JwtCheckOptions): PreparedIssuer['requirements'] {
  const {
    issuer,
    audience,
    typ = 'at+jwt',
    algorithms = asymmetricAlgorithms,
    clockToleranceSeconds = 5,
  } = options
  return {
    issuer,
    ...(audience !== false && { audience: [audience].flat() }),
    algorithms: [...algorithms],
    clockTolerance: clockToleranceSeconds,
    requiredClaims: typ === 'at+jwt' ? ['exp', 'sub', 'client_id', 'iat', 'jti'] : ['exp'],
  }
}

/** RFC 9068, section 4; for tokens of other types RFC 8725, section 3. */
async function checkJwt(
  token: string,
  { keys, ...prepared }: PreparedIssuer,
  options: JwtCheckOptions,
): Promise<CheckResult> {
  const { audience, clock, typ = 'at+jwt' } = options
  const requirements = { ...prepared.requirements, currentDate: new Date(clock.now()) }
  const checked = await keys.verify(token, requirements).catch((error: unknown): RejectionReason => {
    // The keys could not be loaded.
    if (error instanceof TokenError) throw error
    const header = headerOf(token)
    const isClaim = error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired
    // A token of another type lacks other claims as well: its type is the better reason.
    const other = isClaim ? findOtherType(header.typ, error.payload, typ) : undefined
    return other ?? reasonOf(error, header, requirements)
  })
  if ('claim' in checked) return { reason: checked }
  const { payload, protectedHeader } = checked
  const other = findOtherType(protectedHeader.typ, payload, typ)
  if (other) return { reason: other }
  if (audience === false && payload.aud !== undefined) {
    return { reason: rejectionReason('aud', payload.aud, 'no aud', 'aud') }
  }
  // Other clients are welcome, so nothing else tells an ID token apart: it is for its client.
  if (options.clients === 'any' && isAnyType(protectedHeader.typ) && payload['azp'] !== undefined) {
    const { azp, aud } = payload
    if ([aud].flat().every((each) => each === azp)) {
      return { reason: rejectionReason('azp', azp, 'another client than the audience', 'idToken') }
    }
  }
  const verified = toVerifiedToken(payload)
  const reason = findRestriction(verified, options)
  return reason ? { reason } : { token: verified }
}

function headerOf(token: string): JWTHeaderParameters | Record<string, never> {
  try {
    return decodeProtectedHeader(token) as JWTHeaderParameters
  } catch {
    return {}
  }
}

/** Why jose, or WebCrypto, does not accept a token. */
function reasonOf(
  error: unknown,
  { alg, kid, crit }: JWTHeaderParameters | Record<string, never>,
  { issuer, audience, algorithms = [], currentDate }: PreparedIssuer['requirements'],
): RejectionReason {
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    const { claim, payload, reason } = error
    const received = payload[claim]
    const now = currentDate?.toISOString()
    const expected: Readonly<Record<string, string>> = {
      iss: issuer,
      aud: oneOf([audience].flat()),
      exp: `a time after ${now}`,
      nbf: `a time before ${now}`,
    }
    const isTime = claim === 'exp' || claim === 'nbf'
    const mistake = claim === 'aud' || claim === 'iss' ? claim : undefined
    if (reason === 'check_failed')
      return rejectionReason(claim, isTime ? timeOf(received) : received, expected[claim]!, mistake)
    return rejectionReason(
      claim,
      received,
      reason === 'missing' ? (expected[claim] ?? 'a value, as RFC 9068 requires') : 'a number',
      mistake,
    )
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return rejectionReason('alg', alg, oneOf(algorithms))
  if (error instanceof errors.JWKSNoMatchingKey) {
    return rejectionReason('kid', kid, `the ID of a key of ${issuer} for ${alg}`)
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return rejectionReason('signature', 'invalid', `a signature by a key of ${issuer}`)
  }
  if (error instanceof errors.JOSENotSupported)
    return rejectionReason(crit ? 'crit' : 'alg', crit ?? alg, 'supported values')
  if (error instanceof errors.JOSEError) return rejectionReason('format', 'malformed', 'a signed JWT')
  return rejectionReason('kid', kid, `the ID of a key that can be used (${errorCode(error)})`)
}
