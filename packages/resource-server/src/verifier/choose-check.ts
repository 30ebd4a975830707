import { isTokenError, type Clock } from '@tokenwell/core'
import { configurationError, errorCode, secureUrl } from '@tokenwell/core/protocol'
import { createIntrospectionCheck } from '../checks/introspection-check.ts'
import type { FindIssuer, IssuerOptions, JwtCheckOptions } from '../checks/jwt-check.ts'
import type { TokenCheck } from '../checks/token-check.ts'
import { tokenError } from '../http/token-verification-error.ts'
import type { TokenVerifierOptions } from './token-verifier-options.ts'

/** Returns the function that chooses a token's check by its shape; undefined if tokens of that shape are not accepted. */
export function chooseCheck(
  options: TokenVerifierOptions & { readonly clock: Clock },
): (token: string) => TokenCheck | undefined {
  const { introspection, issuer, issuers, jwks, jwksUrl, checkRevocation } = options
  if (introspection === undefined && issuer === undefined && issuers === undefined) {
    throw configurationError('createTokenVerifier requires introspection, an issuer, or both.')
  }
  if (issuer !== undefined && issuers !== undefined) {
    throw configurationError('issuer and issuers are mutually exclusive.')
  }
  if (issuer === undefined && (jwks ?? jwksUrl) !== undefined) {
    throw configurationError('jwks and jwksUrl require an issuer.')
  }
  if (checkRevocation && !introspection) throw configurationError('checkRevocation requires introspection.')
  const findIssuer = createFindIssuer(options)
  const opaque = introspection && createIntrospectionCheck(introspection, options)
  if (findIssuer === undefined) return () => opaque
  const signed = createLazyJwtCheck(findIssuer, options.clockToleranceSeconds)
  const complete = checkRevocation ? bothChecks(signed, opaque!) : signed
  return (token) => (isJwt(token) ? complete : opaque)
}

function createFindIssuer(options: TokenVerifierOptions & { readonly clock: Clock }): FindIssuer | undefined {
  const { issuer, issuers = issuer === undefined ? undefined : [{ ...options, issuer }] } = options
  if (issuers === undefined) return undefined
  const complete = (one: IssuerOptions): JwtCheckOptions => {
    const { audience = options.audience ?? options.resource?.toString(), jwks, jwksUrl } = one
    const { algorithms = options.algorithms, typ = options.typ } = one
    if (audience === undefined || audience.length === 0) {
      throw configurationError('audience is missing. Set the "aud" value that identifies this API.')
    }
    const { fetch, allowInsecureRequests, waitUntil, clock, clockToleranceSeconds } = options
    if (jwksUrl !== undefined) secureUrl('jwksUrl', jwksUrl, allowInsecureRequests)
    else if (jwks === undefined) secureUrl('issuer', one.issuer, allowInsecureRequests)
    const common = { fetch, allowInsecureRequests, waitUntil, clock, clockToleranceSeconds }
    return { issuer: one.issuer, audience, jwks, jwksUrl, algorithms, typ, ...common }
  }
  if (typeof issuers === 'function') {
    return async (name) => {
      try {
        const found = await issuers(name)
        return found?.issuer === name ? complete(found) : undefined
      } catch (error) {
        if (isTokenError(error)) throw error
        throw tokenError('unavailable', `The issuers function failed (${errorCode(error)}).`)
      }
    }
  }
  const known = new Map(issuers.map((one) => [one.issuer, complete(one)]))
  if (known.size === 0) throw configurationError('issuers must contain at least one issuer.')
  if (known.size < issuers.length) throw configurationError('issuers must name each issuer once.')
  return (name) => known.get(name)
}

/** jose is loaded with the first JWT. */
function createLazyJwtCheck(findIssuer: FindIssuer, clockToleranceSeconds = 5): TokenCheck {
  let loaded: Promise<TokenCheck['check']> | undefined
  return {
    method: 'jwt',
    // An unknown key may become known.
    cacheMs: { valid: 10_000, invalid: 1_000 },
    staleIfErrorMs: 0,
    toleranceMs: clockToleranceSeconds * 1_000,
    async check(token, known) {
      loaded ??= import('../checks/jwt-check.ts').then(({ createJwtCheck }) => createJwtCheck(findIssuer))
      return (await loaded)(token, known)
    },
  }
}

/** The claims of the JWT, if the authorization server has not revoked it. */
function bothChecks(signed: TokenCheck, introspection: TokenCheck): TokenCheck {
  return {
    ...signed,
    cacheMs: { ...signed.cacheMs, valid: introspection.cacheMs.valid },
    staleIfErrorMs: introspection.staleIfErrorMs,
    async check(token, known) {
      const claims = await signed.check(token, known)
      return claims && (await introspection.check(token, known)) && claims
    },
  }
}

/** Whether a token has the shape of a signed JWT: three parts, the first of which is a JSON object. */
function isJwt(token: string): boolean {
  const [, header] = /^([\w-]+)\.[\w-]+\.[\w-]*$/.exec(token) ?? []
  if (header === undefined) return false
  try {
    return typeof JSON.parse(atob(header.replaceAll('-', '+').replaceAll('_', '/'))) === 'object'
  } catch {
    return false
  }
}
