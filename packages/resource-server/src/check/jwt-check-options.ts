import type { Clock } from '@tokenwell/core'
import type { IssuerOptions, TokenVerifierOptions } from '../options/token-verifier-options.ts'

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
