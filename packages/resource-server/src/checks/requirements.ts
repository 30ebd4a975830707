import type { TokenVerificationFailure } from '../http/token-verification-error.ts'
import type { ReadClientCertificate } from '../http/node-request.ts'

/** What is known about an access token that passed all checks. Holds no token, so it can be logged. */
export interface VerifiedToken {
  readonly clientId: string | undefined
  readonly subject: string | undefined
  readonly issuer: string | undefined
  readonly audience: readonly string[]
  readonly scopes: readonly string[]
  /** API products that the token covers. */
  readonly products: readonly string[]
  readonly expiresAt: Date | undefined
  /** All claims of the JWT, or all members of the introspection response. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Reads the claims of a JWT access token (RFC 9068) or an introspection response (RFC 7662); other types count as missing. */
export function toVerifiedToken(claims: Readonly<Record<string, unknown>>): VerifiedToken {
  const { client_id: clientId, sub, iss, aud, exp, scope, scp, api_products: products } = claims
  return Object.freeze({
    clientId: text(clientId),
    subject: text(sub),
    issuer: text(iss),
    audience: list(typeof aud === 'string' ? [aud] : aud),
    // Some authorization servers call the claim `scp`.
    scopes: list(words(scope ?? scp)),
    products: list(products),
    expiresAt: typeof exp === 'number' ? new Date(exp * 1000) : undefined,
    claims: Object.freeze({ ...claims }),
  })
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function words(value: unknown): unknown {
  return typeof value === 'string' ? value.split(' ').filter(Boolean) : value
}

function list(value: unknown): readonly string[] {
  return Object.freeze(Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [])
}

/** What a token must cover. */
export interface TokenRequirements {
  /** API products, all of which are required. */
  readonly products?: readonly string[] | undefined
  /** Scopes, all of which are required. */
  readonly scopes?: readonly string[] | undefined
}

/** What a request must have to be accepted, and where its client certificate is. */
export interface RequireTokenOptions<Request> extends TokenRequirements {
  /** Returns DER or PEM, for example from a header that a trusted proxy sets. @default the certificate of the connection, in Node */
  readonly clientCertificate?: ReadClientCertificate<Request> | undefined
}

/** What the token does not cover, if anything. */
export function findInsufficientScope(
  token: VerifiedToken,
  { products = none, scopes = none }: TokenRequirements,
): TokenVerificationFailure | undefined {
  const missingProducts = without(products, token.products)
  const missingScopes = without(scopes, token.scopes)
  if (missingProducts.length + missingScopes.length === 0) return undefined
  const missing = [
    named(missingProducts, 'the product', 'the products'),
    named(missingScopes, 'the scope', 'the scopes'),
  ]
  return {
    code: 'insufficient_scope',
    message: `The access token does not cover ${missing.filter(Boolean).join(' and ')}.`,
    scopes,
    missingProducts,
    missingScopes,
    clientId: token.clientId,
  }
}

const none: readonly string[] = []

function without(required: readonly string[], covered: readonly string[]): readonly string[] {
  return required.length === 0 ? none : required.filter((each) => !covered.includes(each))
}

function named(names: readonly string[], one: string, many: string): string {
  return names.length === 0 ? '' : `${names.length === 1 ? one : many} ${names.join(', ')}`
}
