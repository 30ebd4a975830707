import type { Clock } from '@tokenwell/core'
import type { IssuerOptions, TokenVerifierOptions } from '../options/token-verifier-options.ts'
/** A token's claims, or undefined if the token is not valid. */
export type TokenClaims = Readonly<Record<string, unknown>>

export interface TokenCheck {
  readonly method: 'introspection' | 'jwt'
  /** How long the result for a valid token is reused, and for an invalid one. */
  readonly cacheMs: { readonly valid: number; readonly invalid: number }
  readonly staleIfErrorMs: number
  /** How long a token is accepted after its expiry, as the clocks may differ. */
  readonly toleranceMs: number
  /**
   * @param known whether the token was valid a moment ago: it takes precedence over unknown ones
   * @throws {TokenError} if the token could not be checked
   */
  check(token: string, known: boolean): Promise<TokenClaims | undefined>
}

/** One issuer, and what applies to all of them. */
export interface JwtCheckOptions extends IssuerOptions {
  readonly audience: NonNullable<IssuerOptions['audience']>
  readonly clockToleranceSeconds?: number | undefined
  readonly fetch?: TokenVerifierOptions['fetch']
  readonly allowInsecureRequests?: boolean | undefined
  readonly waitUntil?: TokenVerifierOptions['waitUntil']
  readonly clock: Clock
}

/** The options of the issuer whose `iss` this is; undefined if it is not accepted. */
export type FindIssuer = (
  issuer: string,
) => JwtCheckOptions | undefined | Promise<JwtCheckOptions | undefined>
