/// <reference lib="esnext.disposable" preserve="true" />
import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenEventListener } from '../tokens/token-event.ts'

/** Options of one {@link TokenProvider.getToken} call. */
export interface GetTokenOptions {
  /** Detaches this caller: the call rejects with the signal's reason, and others continue to wait. */
  readonly signal?: AbortSignal | undefined
  /** Minimum remaining lifetime in milliseconds. If it exceeds a whole lifetime, the freshest token is returned. */
  readonly minimumValidityMs?: number | undefined
  /** Waits for a token that was requested after this call began, ignoring the cached token and every cooldown. */
  readonly forceRefresh?: boolean | undefined
}

/** Options of {@link TokenProvider.close}. */
export interface CloseOptions {
  /** Revokes the cached token, unless it is shared through a store. @default false */
  readonly revoke?: boolean | undefined
}

/** Gets tokens, caches them, and refreshes them before they expire. */
export interface TokenProvider {
  /** Returns a token with sufficient remaining lifetime. @throws {TokenError} if none is available */
  getToken(options?: GetTokenOptions): Promise<AccessToken>
  /** The cached token while it is safe to use; requests nothing. */
  peekToken(): AccessToken | undefined
  /**
   * Reports that an API rejected this token: the next `getToken` waits for a new one, and returns the old one
   * only if none is available. After 20 rejections, one more every 5 s has this effect; beyond that, the old one stays in
   * use. Does nothing if the cached token is a newer one.
   */
  reject(token: AccessToken): void
  /** Drops the cached token and every cooldown: the next call requests a new token. */
  reset(): void
  /** Calls `listener` with every event; returns a function that removes the listener. Errors thrown by a listener are ignored. */
  subscribe(listener: TokenEventListener): () => void
  /**
   * Drops the cached token, removes it from the store, and revokes it at the server (RFC 7009). Other processes that use it
   * get 401s until they have replaced it. Does nothing without a cached token.
   *
   * @throws {TokenError} if the token cannot be revoked; it is dropped nevertheless
   */
  revoke(): Promise<void>
  /**
   * Cancels the pending request, and waits until a new token is stored. Never closes the store.
   *
   * @throws {TokenError} if `revoke` is set and the token cannot be revoked
   */
  close(options?: CloseOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
