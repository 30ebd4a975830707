import { configurationError } from '@tokenwell/core/protocol'
import { allOf, oneOf, rejectionReason, type RejectionReason } from '../http/rejection-reason.ts'
import type { TokenVerificationFailure } from '../http/token-verification-error.ts'

/**
 * What is known about an access token that passed all checks. Holds no token, so it can be logged. It is frozen, claims and
 * their members included: a handler that changes it gets a `TypeError` in strict mode.
 */
export interface VerifiedToken {
  /** The first of the claims `client_id`, `azp`, `appid` and `cid` that is a text. */
  readonly clientId: string | undefined
  readonly subject: string | undefined
  readonly issuer: string | undefined
  readonly audience: readonly string[]
  /** Of the claim `scope`, else `scp`: a list, or text separated by spaces. */
  readonly scopes: readonly string[]
  /** API products that the token covers. */
  readonly products: readonly string[]
  readonly expiresAt: Date | undefined
  /** All claims of the JWT, or all members of the introspection response. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** What a token must cover: everything that is named here. */
export interface TokenRequirements {
  /** API products, all of which are required. */
  readonly products?: readonly string[] | undefined
  /** Scopes, all of which are required. */
  readonly scopes?: readonly string[] | undefined
  /** Scopes, one of which is required. Challenges name the first: begin with the one that allows least. */
  readonly anyScope?: readonly string[] | undefined
  /** Claims by name, and what each must have. */
  readonly claims?: RequiredClaims | undefined
  /** Any other condition; it is met only if the function returns `true`. */
  readonly where?: ((token: VerifiedToken) => boolean) | undefined
}

/**
 * What claims must have, by name:
 *
 * - a value: a claim that is a list must contain it, any other must equal it. Only `scope` and `scp` are split at spaces;
 * - a list of values, all of which are required; or `{ anyOf: [...] }`, one of which is;
 * - an object, for a claim that is one: what each of its members must have.
 *
 * @example { idtyp: 'app', roles: ['Orders.Read'], resource_access: { 'orders-api': { roles: ['reader'] } } }
 */
export interface RequiredClaims {
  readonly [claim: string]:
    | string
    | number
    | boolean
    | readonly (string | number | boolean)[]
    | RequiredClaims
}

/** What every token must have, whatever a route requires: a token without it is invalid. */
export interface TokenRestrictions extends TokenRequirements {
  /**
   * Client IDs that are accepted; `'any'` accepts every client of the issuer. @default all, where that is not ambiguous
   */
  readonly clients?: readonly string[] | 'any' | undefined
}

/**
 * Finds whom or what a token stands for, after everything that is required has been checked: the result is `request.user`.
 * With undefined, null or false, the request gets 401; an error is one of the handler.
 */
export type FindUser<Request> = (token: VerifiedToken, request: Request) => unknown

/** What a request must have to be accepted, and where its client certificate is. */
export interface RequireTokenOptions<Request> extends TokenRequirements {
  /**
   * Whether requests without a token pass, too: without an access token, then. One with an invalid token does not pass,
   * and a request without a token never passes where anything is required. @default false
   */
  readonly optional?: boolean | undefined
  /** Returns DER or PEM, for example from a header that a trusted proxy sets. @default the certificate of the connection, in Node */
  readonly clientCertificate?: ((request: Request) => Uint8Array | string | undefined) | undefined
}

/**
 * Reads the claims of a JWT access token (RFC 9068) or an introspection response (RFC 7662); other types count as missing.
 * Freezes the claims: later requests with the same token get the same ones.
 */
export function toVerifiedToken(claims: Readonly<Record<string, unknown>>): VerifiedToken {
  const {
    client_id: clientId,
    azp,
    appid,
    cid,
    sub,
    iss,
    aud,
    exp,
    scope,
    scp,
    api_products: products,
  } = claims
  return Object.freeze({
    // Entra ID, Auth0, Google and Keycloak set azp or appid, Okta cid.
    clientId: [clientId, azp, appid, cid].map(text).find((each) => each !== undefined),
    subject: text(sub),
    issuer: text(iss),
    audience: list(typeof aud === 'string' ? [aud] : aud),
    scopes: list(words(scope ?? scp)),
    products: list(products),
    expiresAt: typeof exp === 'number' ? new Date(exp * 1000) : undefined,
    claims: deepFreeze(claims),
  })
}

/** A JWT without the scopes, products and audiences that an introspection response, where it states any, does not name. */
export function narrowToken(
  { claims }: VerifiedToken,
  response: Readonly<Record<string, unknown>>,
): VerifiedToken {
  const { scope = response['scp'], api_products, aud } = response
  const stated = Object.entries({ scope, scp: scope, api_products, aud })
  const changed = stated.flatMap(([name, value]) => {
    const claim = claims[name]
    const [names, kept] = [namesOf(name, claim), namesOf(name, value)]
    const left = names.filter((each) => kept.includes(each))
    if (value === undefined || left.length === names.length) return []
    return [[name, typeof claim === 'string' ? left.join(' ') : left]]
  })
  return toVerifiedToken({ ...claims, ...Object.fromEntries(changed) })
}

function namesOf(claim: string, value: unknown): readonly string[] {
  const values = valuesOf(claim, value)
  return list(typeof values === 'string' ? [values] : values)
}

/** The token that one request gets: a `Date` cannot be frozen, and the cached one must not change. */
export function copyToken(token: VerifiedToken): VerifiedToken {
  const { expiresAt } = token
  return expiresAt === undefined ? token : Object.freeze({ ...token, expiresAt: new Date(expiresAt) })
}

/** Not recursive: an issuer may nest claims deeper than the stack. */
function deepFreeze<Value extends object>(value: Value): Value {
  const open: object[] = [value]
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    for (const member of Object.values(Object.freeze(each)) as unknown[]) {
      if (typeof member === 'object' && member !== null) open.push(member)
    }
  }
  return value
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function words(value: unknown): unknown {
  return typeof value === 'string' ? value.split(' ').filter(Boolean) : value
}

function list(value: unknown): readonly string[] {
  return Object.freeze(Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [])
}

/** What the token does not cover of several sets of requirements, which all apply. */
export function findUnmetRequirement(
  token: VerifiedToken,
  requirements: readonly TokenRequirements[],
): TokenVerificationFailure | undefined {
  const areNamesMet = requirements.every((each) => coversNames(token, each))
  // Any value but true is not a decision: a promise, for example, that nobody awaits.
  if (
    areNamesMet &&
    requirements.every(({ where }) => where === undefined || (where(token) as unknown) === true)
  ) {
    return undefined
  }
  const products = requirements.flatMap((each) => each.products ?? none)
  const scopes = requirements.flatMap((each) => each.scopes ?? none)
  const missingProducts = without(products, token.products)
  const missingScopes = without(scopes, token.scopes)
  const alternatives = requirements
    .flatMap(({ anyScope }) => (anyScope ? [anyScope] : []))
    .filter((anyScope) => !anyScope.some((scope) => token.scopes.includes(scope)))
  const unequal = requirements.flatMap(({ claims }) => (claims ? unmetClaims(token.claims, claims) : []))
  const [reason = rejectionReason('where', false, 'true')] = [
    ...missingProducts.map(() => rejectionReason('api_products', token.products, allOf(products))),
    ...missingScopes.map(() => rejectionReason('scope', token.scopes, allOf(scopes))),
    ...alternatives.map((anyScope) => rejectionReason('scope', token.scopes, oneOf(anyScope))),
    ...unequal,
  ]
  const missing = [
    named(missingProducts, 'the product', 'the products'),
    named(missingScopes, 'the scope', 'the scopes'),
    ...alternatives.map((anyScope) => named(anyScope, 'the scope', 'one of the scopes')),
    // Their values may tell a client about others.
    named([...new Set(unequal.map(({ claim }) => claim))], 'the required value of', 'the required values of'),
  ].filter(Boolean)
  return {
    code: 'insufficient_scope',
    message: areNamesMet
      ? 'The access token does not meet a condition of this API.'
      : `The access token does not cover ${missing.join(' and ')}.`,
    reason,
    scopes: requiredScopes(requirements),
    missingProducts,
    missingScopes,
    clientId: token.clientId,
  }
}

/** All but `where`, which is asked only about tokens that have everything else. */
function coversNames(
  token: VerifiedToken,
  { products = none, scopes = none, anyScope, claims }: TokenRequirements,
): boolean {
  return (
    without(products, token.products).length + without(scopes, token.scopes).length === 0 &&
    (anyScope === undefined || anyScope.some((scope) => token.scopes.includes(scope))) &&
    (claims === undefined || unmetClaims(token.claims, claims).length === 0)
  )
}

/** Why a token is not accepted on any route. */
export function findRestriction(
  token: VerifiedToken,
  { clients, ...requirements }: TokenRestrictions,
): RejectionReason | undefined {
  const { clientId } = token
  if (clients !== undefined && clients !== 'any' && !clients.includes(clientId ?? '')) {
    return rejectionReason('client_id', clientId, oneOf(clients))
  }
  return findUnmetRequirement(token, [requirements])?.reason
}

/** The scopes that a challenge names (RFC 6750, section 3): with them, a token has enough. */
export function requiredScopes(requirements: readonly TokenRequirements[]): readonly string[] {
  const scopes = new Set(requirements.flatMap((each) => each.scopes ?? none))
  for (const { anyScope = none } of requirements) {
    if (anyScope.length > 0 && !anyScope.some((scope) => scopes.has(scope))) scopes.add(anyScope[0]!)
  }
  return [...scopes]
}

export function requiresAnything({
  products = none,
  scopes = none,
  anyScope,
  claims,
  where,
}: TokenRequirements): boolean {
  return products.length + scopes.length > 0 || (anyScope ?? claims ?? where) !== undefined
}

const requirementNames: readonly string[] = ['products', 'scopes', 'anyScope', 'claims', 'where']

/**
 * Finds mistakes in what a route requires. A misspelt name, or a list without names, would require nothing.
 *
 * @throws {TokenError} of kind `configuration`
 */
export function checkRequirements(requirements: TokenRequirements): void {
  const unknown = Object.keys(requirements).find((name) => !requirementNames.includes(name))
  if (unknown !== undefined) {
    throw configurationError(
      `${unknown} is not a requirement. A route can require ${oneOf(requirementNames)}.`,
    )
  }
  const { products, scopes } = requirements
  for (const [option, names] of Object.entries({ products, scopes })) {
    if (names?.length === 0) throw configurationError(`${option} must contain at least one name.`)
  }
  checkRestrictions(requirements)
}

const restrictionNames = [...requirementNames, 'clients']

/**
 * Finds mistakes that `findUnmetRequirement` would reject every token for, and `scope` for `scopes`, which would restrict nothing.
 *
 * @throws {TokenError} of kind `configuration`
 */
export function checkRestrictions(restrictions: TokenRestrictions): void {
  for (const name of Object.keys(restrictions)) {
    const meant = restrictionNames.find((known) => known === `${name}s` || name === `${known}s`)
    if (meant !== undefined) throw configurationError(`${name} is not an option. Set ${meant}.`)
  }
  const { products, scopes, anyScope, claims, where } = restrictions
  const clients = restrictions.clients === 'any' ? undefined : restrictions.clients
  for (const [option, names] of Object.entries({ clients, products, scopes, anyScope })) {
    if (names === undefined) continue
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string' && name !== '')) {
      throw configurationError(`${option} must be a list of names.`)
    }
  }
  if (clients?.length === 0) throw configurationError('clients must contain at least one client ID.')
  if (anyScope?.length === 0) throw configurationError('anyScope must contain at least one scope.')
  if (claims !== undefined) checkRequiredClaim('claims', claims)
  if (where !== undefined && typeof where !== 'function')
    throw configurationError('where must be a function.')
}

function checkRequiredClaim(path: string, required: unknown): void {
  const values = [alternativesOf(required) ?? required].flat()
  const members = isObject(values[0]) && !Array.isArray(required) ? Object.entries(values[0]) : none
  for (const [name, each] of members) checkRequiredClaim(`${path}.${name}`, each)
  const isComplete = members.length > 0 || (path !== 'claims' && values.length > 0 && values.every(isValue))
  if (!isComplete) {
    throw configurationError(`${path} must say what is required, as in claims: { roles: ['Orders.Read'] }.`)
  }
}

const none: readonly never[] = []

function without(required: readonly string[], covered: readonly string[]): readonly string[] {
  return required.length === 0 ? none : required.filter((each) => !covered.includes(each))
}

function named(names: readonly string[], one: string, many: string): string {
  return names.length === 0 ? '' : `${names.length === 1 ? one : many} ${names.join(', ')}`
}

/** A requirement that names no value is met by no token: it may come from a variable that is not set. */
function unmetClaims(claims: Readonly<Record<string, unknown>>, required: RequiredClaims): RejectionReason[] {
  const names = Object.keys(required)
  if (names.length === 0) return [rejectionReason('claims', undefined, 'a requirement')]
  return names.flatMap((name) => {
    const claim = memberOf(claims, name)
    return unmetClaim(name, valuesOf(name, claim), required[name])
  })
}

function valuesOf(name: string, claim: unknown): unknown {
  return name === 'scope' || name === 'scp' ? words(claim) : claim
}

function unmetClaim(name: string, claim: unknown, required: unknown): RejectionReason[] {
  const alternatives = alternativesOf(required)
  if (isObject(required) && alternatives === undefined) {
    const members = Object.keys(required)
    if (members.length > 0 && isObject(claim)) {
      return members.flatMap((member) =>
        unmetClaim(`${name}.${member}`, memberOf(claim, member), required[member]),
      )
    }
    return [rejectionReason(name, claim, 'an object')]
  }
  const values = [required].flat()
  const isMet = alternatives
    ? alternatives.some((value) => has(claim, value))
    : values.length > 0 && values.every((value) => has(claim, value))
  return isMet ? [] : [rejectionReason(name, claim, alternatives ? oneOf(alternatives) : allOf(values))]
}

/** Beside other members, `anyOf` is the name of a member like them. */
function alternativesOf(required: unknown): readonly unknown[] | undefined {
  if (!isObject(required) || Object.keys(required).length !== 1) return undefined
  return Array.isArray(required['anyOf']) ? required['anyOf'] : undefined
}

function has(claim: unknown, value: unknown): boolean {
  return isValue(value) && (Array.isArray(claim) ? claim.includes(value) : claim === value)
}

function isValue(value: unknown): boolean {
  return value !== '' && /^(?:string|number|boolean)$/.test(typeof value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Not what every object inherits, such as `constructor`. */
function memberOf(object: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
