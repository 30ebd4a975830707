import type { TokenError } from '@tokenwell/core'
import type { TokenVerificationErrorCode } from '../rejection/token-verification-error.ts'

/** What a verifier reports about its work. Holds no token and no secret. */
export type VerificationEvent =
  | {
      readonly type: 'request_accepted'
      readonly clientId: string | undefined
      /** Whether the result came from the cache. */
      readonly cached: boolean
    }
  | {
      readonly type: 'request_rejected'
      readonly code: TokenVerificationErrorCode
      readonly status: number
      readonly clientId: string | undefined
      /** Why the token could not be checked, with the code `unavailable`. Holds no secret. */
      readonly error?: TokenError | undefined
    }
  | {
      /** A token was checked: by a request to the introspection endpoint, or by its signature. */
      readonly type: 'token_checked'
      readonly method: 'introspection' | 'jwt'
      /** `failed`: it could not be checked. */
      readonly result: 'valid' | 'invalid' | 'failed'
      readonly durationMs: number
    }

export type VerificationEventListener = (event: VerificationEvent) => void
