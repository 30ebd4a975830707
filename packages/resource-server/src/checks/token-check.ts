import type { RejectionReason } from '../http/rejection-reason.ts'
import type { VerifiedToken } from './requirements.ts'

/** A valid token, or why it is not valid. */
export type CheckResult =
  | { readonly token: VerifiedToken; readonly reason?: undefined }
  | { readonly token?: undefined; readonly reason: RejectionReason }

export interface TokenCheck {
  readonly method: 'introspection' | 'jwt'
  /** How long the result for a valid token is reused, and for an invalid one. */
  readonly cacheMs: { readonly valid: number; readonly invalid: number }
  readonly staleIfErrorMs: number
  /** How long a token is accepted after its expiry, as the clocks may differ. */
  readonly toleranceMs: number
  /** A check that takes longer is no longer shared. */
  readonly timeoutMs: number
  /**
   * @param known whether the token was valid a moment ago: it takes precedence over unknown ones
   * @throws {TokenError} if the token could not be checked
   */
  check(token: string, known: boolean): Promise<CheckResult>
}
