import type { TokenErrorKind } from '../protocol/token-error.ts'

/** Why a token was asked for. */
export type TokenRequestReason =
  | 'first'
  | 'eager'
  | 'refresh_ahead'
  | 'expiring'
  | 'rejected'
  | 'forced'
  | 'minimum_validity'

/**
 * What a provider tells its listeners. Times in milliseconds. `requestId` numbers the provider's token
 * requests with their retries. No event holds a secret, and none is sent while a token at hand is handed out.
 */
export type TokenEvent =
  | {
      readonly type: 'token_requested'
      readonly requestId: number
      readonly reason: TokenRequestReason
      readonly attempt: number
    }
  | {
      readonly type: 'token_received'
      readonly requestId: number
      readonly reason: TokenRequestReason
      readonly attempt: number
      /** `store`: another provider or process had asked for it. */
      readonly from: 'endpoint' | 'store'
      readonly durationMs: number
      readonly remainingMs: number
    }
  | {
      readonly type: 'token_failed'
      readonly requestId: number
      readonly reason: TokenRequestReason
      readonly attempt: number
      readonly durationMs: number
      readonly kind: TokenErrorKind
      readonly status?: number | undefined
      readonly oauthError?: string | undefined
      readonly vendorCode?: string | undefined
      /** Set when another attempt follows. */
      readonly retryInMs?: number | undefined
    }
  | {
      readonly type: 'token_rejected'
      readonly remainingMs: number
      /** False when refusals came so fast that no further token is asked for. */
      readonly refreshing: boolean
    }
  | { readonly type: 'token_withheld'; readonly origin: string }
  | { readonly type: 'store_unavailable'; readonly operation: string; readonly cause: string }
  | {
      readonly type: 'lifetime_unknown'
      readonly requestId: number
      readonly problem: 'missing' | 'too_long'
      readonly assumedMs: number
    }

export type TokenEventListener = (event: TokenEvent) => void

/** Tells one listener; what it throws or rejects with is dropped, for a listener's fault is not the caller's. */
export function notify(listener: TokenEventListener | undefined, event: TokenEvent): void {
  try {
    const result: unknown = listener?.(event)
    if (result instanceof Promise) result.catch(() => {})
  } catch {}
}
