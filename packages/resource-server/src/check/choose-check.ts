import type { Clock } from '@tokenwell/core'
import { configurationError, secureUrl } from '@tokenwell/core/protocol'
import type { TokenVerifierOptions } from '../options/token-verifier-options.ts'
import { createIntrospectionCheck } from './introspection-check.ts'
import { isJwt } from './is-jwt.ts'
import type { JwtCheckOptions } from './jwt-check-options.ts'
import type { TokenCheck } from './token-check.ts'

/** Returns the function that chooses a token's check by its shape; undefined if tokens of that shape are not accepted. */
export function chooseCheck(
  options: TokenVerifierOptions & { readonly clock: Clock },
): (token: string) => TokenCheck | undefined {
  const { introspection, issuer, audience, jwks, jwksUrl } = options
  if (introspection === undefined && issuer === undefined) {
    throw configurationError('createTokenVerifier requires introspection, an issuer, or both.')
  }
  if (issuer === undefined && (jwks ?? jwksUrl) !== undefined) {
    throw configurationError('jwks and jwksUrl require an issuer.')
  }
  const opaque = introspection && createIntrospectionCheck({ ...options, introspection })
  if (issuer === undefined) return () => opaque
  if (audience === undefined || audience.length === 0) {
    throw configurationError('audience is missing. Set the "aud" value that identifies this API.')
  }
  const signed = createLazyJwtCheck({ ...options, issuer, audience })
  return (token) => (isJwt(token) ? signed : opaque)
}

/** jose is loaded with the first JWT. */
function createLazyJwtCheck(options: JwtCheckOptions): TokenCheck {
  const { issuer, jwks, jwksUrl, allowInsecureRequests } = options
  if (jwksUrl !== undefined) secureUrl('jwksUrl', jwksUrl, allowInsecureRequests)
  else if (jwks === undefined) secureUrl('issuer', issuer, allowInsecureRequests)
  let loaded: Promise<TokenCheck['check']> | undefined
  return {
    method: 'jwt',
    // An unknown key may become known.
    cacheMs: { valid: 10_000, invalid: 1_000 },
    staleIfErrorMs: 0,
    toleranceMs: (options.clockToleranceSeconds ?? 5) * 1_000,
    async check(token, known) {
      loaded ??= import('./jwt-check.ts').then(({ createJwtCheck }) => createJwtCheck(options))
      return (await loaded)(token, known)
    },
  }
}
