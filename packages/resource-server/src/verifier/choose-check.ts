import { isTokenError, type Clock } from '@tokenwell/core'
import { configurationError, errorCode, secureUrl } from '@tokenwell/core/protocol'
import { orAborted, withDeadline } from '../checks/deadline.ts'
import {
  createIntrospectionCheck,
  type FindAccepted,
  type IntrospectionCheck,
  type IntrospectionOptions,
} from '../checks/introspection-check.ts'
import type { FindIssuer, IssuerOptions, JwtCheckOptions } from '../checks/jwt-check.ts'
import { checkRestrictions, type TokenRestrictions } from '../checks/requirements.ts'
import type { TokenCheck } from '../checks/token-check.ts'
import { isAnyType } from '../checks/token-type.ts'
import { unverifiedIssuer, unverifiedPart } from '../checks/unverified-jwt.ts'
import { oneOf, rejectionReason, type RejectionReason } from '../http/rejection-reason.ts'
import { tokenError } from '../http/token-verification-error.ts'
import type { TokenVerifierOptions } from './token-verifier-options.ts'

/** Returns the function that chooses a token's check by its shape, or says why tokens of that shape are not accepted. */
export function chooseCheck(
  given: TokenVerifierOptions & { readonly clock: Clock },
): (token: string) => TokenCheck | RejectionReason {
  const options = { ...given, audience: given.audience ?? given.resource?.toString() }
  const { introspection, issuer, issuers, jwks, jwksUrl, checkRevocation } = options
  const namesNoIssuer = issuer === undefined && issuers === undefined
  if (introspection === undefined && namesNoIssuer) {
    throw configurationError('createTokenVerifier requires introspection, an issuer, or both.')
  }
  if (issuer !== undefined && issuers !== undefined) {
    throw configurationError('issuer and issuers are mutually exclusive.')
  }
  if (issuer === undefined && (jwks ?? jwksUrl) !== undefined) {
    throw configurationError('jwks and jwksUrl require an issuer.')
  }
  if (checkRevocation && !introspection) throw configurationError('checkRevocation requires introspection.')
  checkOptionsOfTokens(options)
  const single = issuer === undefined ? [] : [{ ...options, issuer, introspection: undefined }]
  const listed: readonly IssuerOptions[] = typeof issuers === 'object' ? issuers : single
  const names = new Set(listed.map((one) => one.issuer))
  if (names.size < listed.length) throw configurationError('issuers must name each issuer once.')
  if (typeof issuers === 'object' && names.size === 0) {
    throw configurationError('issuers must contain at least one issuer.')
  }
  const entries = new Map<string, JwtCheckOptions>()
  const introspected = new Map<string, IntrospectionCheck>()
  for (const one of listed) {
    if (one.introspection) introspected.set(one.issuer, introspectionOf(one, one.introspection, options))
    else entries.set(one.issuer, complete(one, options))
  }

  const findIssuer: FindIssuer =
    typeof issuers === 'function'
      ? (iss) => findTenant(iss, issuers, options)
      : (iss) => entries.get(iss as string) ?? rejectionReason('iss', iss, oneOf([...names]), 'iss')
  const [onlyEntry] = entries.size === 1 ? entries.values() : []
  const findAccepted: FindAccepted = (iss) => {
    if (namesNoIssuer) return options
    if (introspected.has(iss as string)) {
      return rejectionReason('iss', iss, 'an issuer without an introspection endpoint of its own')
    }
    if (iss !== undefined) return findIssuer(iss)
    return (
      onlyEntry ?? rejectionReason('iss', iss, 'an introspection response that states one of the issuers')
    )
  }
  if (introspection) {
    if (introspected.size > 0 && entries.size === 0) {
      throw configurationError(
        'introspection serves none of the issuers, which all have their own. List its issuer.',
      )
    }
    for (const { audience } of namesNoIssuer ? [options] : entries.values()) {
      checkAudience(introspection, audience)
    }
  }
  const opaque = introspection && createIntrospectionCheck(introspection, options, findAccepted)
  if (namesNoIssuer) return () => opaque!
  const [onlyIntrospected] = introspected.size === 1 ? introspected.values() : []
  const forOpaque = opaque ?? onlyIntrospected
  const signed = createLazyJwtCheck(findIssuer, options.clockToleranceSeconds)
  const jwt = checkRevocation ? bothChecks(signed, opaque!) : signed
  return (token) => {
    if (!isJwt(token)) return forOpaque ?? notJwt(token)
    return (introspected.size > 0 && introspected.get(unverifiedIssuer(token) as string)) || jwt
  }
}

/** The check of an issuer that has its own introspection endpoint, to which no token of another issuer is sent. */
function introspectionOf(
  one: IssuerOptions,
  introspection: IntrospectionOptions,
  options: TokenVerifierOptions,
): IntrospectionCheck {
  const { issuer, audience = options.audience } = one
  const unused = (['jwks', 'jwksUrl', 'typ', 'algorithms'] as const).find((name) => one[name] !== undefined)
  if (unused !== undefined) {
    throw configurationError(`introspection and ${unused} of "${issuer}" are mutually exclusive.`)
  }
  checkOptionsOfTokens({ ...one, audience })
  checkAudience(introspection, audience)
  return createIntrospectionCheck(introspection, options, (iss) =>
    iss === undefined || iss === issuer
      ? { audience, ...restrictionsOf(one, options) }
      : rejectionReason('iss', iss, issuer, 'iss'),
  )
}

function checkAudience({ requireAudience }: IntrospectionOptions, audience: IssuerOptions['audience']): void {
  if (requireAudience && (audience === undefined || audience === false)) {
    throw configurationError('introspection.requireAudience requires audience.')
  }
}

/** An issuer's options, with those of the verifier for what it does not say itself. */
function complete(
  one: IssuerOptions,
  options: TokenVerifierOptions & { readonly clock: Clock },
): JwtCheckOptions {
  const { audience = options.audience } = one
  const { fetch, allowInsecureRequests, waitUntil, clock, clockToleranceSeconds, maxKeyAgeMs } = options
  if (audience === undefined || (audience !== false && audience.length === 0)) {
    throw configurationError('audience is missing. Set the "aud" value that identifies this API.')
  }
  if (one.jwksUrl !== undefined) secureUrl('jwksUrl', one.jwksUrl, allowInsecureRequests)
  else if (one.jwks === undefined) secureUrl('issuer', one.issuer, allowInsecureRequests)
  const entry: JwtCheckOptions = {
    issuer: one.issuer,
    audience,
    fetch,
    allowInsecureRequests,
    waitUntil,
    clock,
    clockToleranceSeconds,
    maxKeyAgeMs,
    jwks: one.jwks,
    jwksUrl: one.jwksUrl,
    algorithms: one.algorithms ?? options.algorithms,
    typ: one.typ ?? options.typ,
    ...restrictionsOf(one, options),
  }
  // Also the names of `one` that an entry does not have, such as `scope`.
  checkOptionsOfTokens({ ...one, ...entry })
  checkJwtOptions(entry)
  return entry
}

function restrictionsOf(one: TokenRestrictions, shared: TokenRestrictions): TokenRestrictions {
  return {
    clients: one.clients ?? shared.clients,
    products: one.products ?? shared.products,
    scopes: one.scopes ?? shared.scopes,
    anyScope: one.anyScope ?? shared.anyScope,
    claims: one.claims ?? shared.claims,
    where: one.where ?? shared.where,
  }
}

function checkOptionsOfTokens(options: Partial<IssuerOptions>): void {
  const { audience, clients, scopes = [], anyScope, issuer } = options
  checkRestrictions(options)
  if (audience === false && !(Array.isArray(clients) && (scopes.length > 0 || anyScope))) {
    const of = issuer === undefined ? '' : ` of "${issuer}"`
    throw configurationError(
      `audience: false requires clients and scopes: tokens${of} for other APIs have no audience, either.`,
    )
  }
}

function checkJwtOptions({ issuer, jwks, typ = 'at+jwt', ...options }: JwtCheckOptions): void {
  const { audience, clients, products = [], scopes = [], anyScope, claims } = options
  const types = [typ].flat()
  const isRestricted = products.length + scopes.length > 0 || (clients ?? anyScope ?? claims) !== undefined
  const areNames = types.length > 0 && types.every((type) => typeof type === 'string' && type !== '')
  if (typ !== false && !areNames) {
    throw configurationError("typ must be a type such as 'JWT', a list of types, or false.")
  }
  if (types.some(isAnyType) && !isRestricted) {
    throw configurationError(
      `typ: ${typ === false ? 'false' : "'JWT'"} requires clients, scopes or claims: ID tokens of "${issuer}" have the same type.`,
    )
  }
  // Every token has a client: this restricts nothing, unless no ID token can have the audience.
  if (clients === 'any' && types.some(isAnyType) && ![audience].flat().every(isUrl)) {
    throw configurationError(
      `clients: 'any' requires typ: 'at+jwt' or a URL as audience: ID tokens of "${issuer}" have the same type, and may have the same audience.`,
    )
  }
  if (jwks === undefined) return
  const { keys } = Object(jwks) as { readonly keys?: unknown }
  if (!Array.isArray(keys)) throw configurationError('jwks must be a key set, as in { keys: [...] }.')
  const at = keys.findIndex((key) => typeof key !== 'object' || key === null)
  // Not its value: it may be a private key as text.
  if (at !== -1) throw configurationError(`jwks.keys[${at}] is not a JSON Web Key, but ${nameOf(keys[at])}.`)
}

function isUrl(audience: string | false): boolean {
  return audience !== false && /^[a-z][a-z\d+.-]*:\/\/./i.test(audience)
}

function nameOf(value: unknown): string {
  return value === null ? 'null' : `a ${typeof value}`
}

/** How long the function `issuers` may take: it may wait for a database that lost the query. */
const issuersTimeoutMs = 5_000
/** A JWT may need the issuer, its metadata and its keys, twice if its key is unknown. */
const jwtTimeoutMs = 30_000

async function findTenant(
  iss: unknown,
  find: Extract<TokenVerifierOptions['issuers'], (issuer: string) => unknown>,
  options: TokenVerifierOptions & { readonly clock: Clock },
): Promise<JwtCheckOptions | RejectionReason> {
  try {
    const found =
      typeof iss === 'string'
        ? await withDeadline(issuersTimeoutMs, (signal) => orAborted(signal, (async () => find(iss))()))
        : undefined
    if (found?.introspection) {
      throw configurationError(
        `The issuers function returned introspection for "${found.issuer}". List that issuer.`,
      )
    }
    return found?.issuer === iss && found
      ? complete(found, options)
      : rejectionReason('iss', iss, 'an issuer that the function `issuers` returns', 'iss')
  } catch (error) {
    if (isTokenError(error)) throw error
    throw tokenError('unavailable', `The issuers function failed (${errorCode(error)}).`)
  }
}

/** jose is loaded with the first JWT. */
function createLazyJwtCheck(findIssuer: FindIssuer, clockToleranceSeconds = 5): TokenCheck {
  let loaded: Promise<TokenCheck['check']> | undefined
  return {
    method: 'jwt',
    // An unknown key may become known.
    cacheMs: { valid: 10_000, invalid: 1_000 },
    staleIfErrorMs: 0,
    timeoutMs: jwtTimeoutMs,
    toleranceMs: clockToleranceSeconds * 1_000,
    async check(token, known) {
      loaded ??= import('../checks/jwt-check.ts').then(({ createJwtCheck }) => createJwtCheck(findIssuer))
      return (await loaded)(token, known)
    },
  }
}

/** The JWT, if the authorization server has not revoked it, without what has been taken away from it. */
function bothChecks(signed: TokenCheck, introspection: IntrospectionCheck): TokenCheck {
  return {
    ...signed,
    cacheMs: { ...signed.cacheMs, valid: introspection.cacheMs.valid },
    staleIfErrorMs: introspection.staleIfErrorMs,
    timeoutMs: signed.timeoutMs + introspection.timeoutMs,
    async check(token, known) {
      const result = await signed.check(token, known)
      return result.token ? introspection.check(token, known, result.token) : result
    },
  }
}

/** Whether a token has the shape of a signed JWT: three parts, the first of which is a JSON object. */
function isJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(token) && typeof unverifiedPart(token, 0) === 'object'
}

function notJwt(token: string): RejectionReason {
  const parts = token.split('.').length
  return rejectionReason('format', parts === 5 ? 'an encrypted token' : 'an opaque token', 'a signed JWT')
}
