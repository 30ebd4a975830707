import type { CachedToken } from '../acquire/cached-token.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenEvent, TokenRequestReason } from '../tokens/token-event.ts'
import type { PendingTokenRequestOptions } from './pending-token-request.ts'
import type { emitEvent } from './provider-internals.ts'

/** The cache that a provider's token requests fill. */
export interface TokenCache {
  [emitEvent](event: TokenEvent): void
  /** The cached token if it is sufficient. */
  usableToken(minimumValidityMs: number, replacementOf: AccessToken | undefined): AccessToken | undefined
  hasValidity(cached: CachedToken, minimumValidityMs: number): boolean
  /** Whether a token from the store is accepted. */
  accepts(cached: CachedToken, options: PendingTokenRequestOptions): boolean
  /** Why a token is requested now. */
  reason(): TokenRequestReason
  keep(cached: CachedToken): void
}
