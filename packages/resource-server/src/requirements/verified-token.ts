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
