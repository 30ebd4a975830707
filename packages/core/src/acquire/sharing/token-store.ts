import type { TokenFailure } from '../../protocol/token-error.ts'
import type { TokenResponse } from '../../protocol/token-response.ts'
import type { CachedToken } from '../cached-token.ts'
import type { AcquireContext, ProviderContext } from '../request-with-retries.ts'

/** A token in a store. */
export interface StoredToken {
  /** Identifies this entry; another token under the same key gets another ID. Never the token itself. */
  readonly id: string
  readonly response: TokenResponse
  /** Remaining lifetime in milliseconds, by the store's own clock, at the moment the read was sent. */
  readonly remainingMs: number
}

/** A failure that all users of a store share for a while. */
export interface StoredCooldown {
  /** Milliseconds until the next attempt is allowed, by the store's own clock. */
  readonly cooldownMs: number
  readonly error: TokenFailure
}

/**
 * Tokens shared between providers or processes. Every method may fail: callers get tokens anyway. After a failure,
 * the store is not used for a while; after an error with `scope: 'key'`, only that key is affected.
 */
export interface TokenStore {
  /** Always `tokenSharing`. Only stores import it, so that programs without a store do not bundle it. */
  readonly sharing: TokenSharing
  /** The entry: a token, a cooldown, or both, if the refresh of a token that is still valid was rejected. */
  read(key: string): Promise<StoredToken | StoredCooldown | (StoredToken & StoredCooldown) | undefined>
  /** Removes the entry `id` if it is still the one under `key`. */
  remove(key: string, id: string): Promise<void>
  /**
   * The exclusive right to request a new token, for `ttlMs`; undefined while another process has it. The slot
   * `fallback` is a second, independent right for the same key: a process takes it when the holder of the
   * first one is slow. Writes through either lease replace the same entry.
   */
  lease(key: string, ttlMs: number, slot?: 'fallback'): Promise<TokenLease | undefined>
  close?(): Promise<void>
}

/** How providers share tokens through a store; {@link tokenSharing} is the only one. */
export interface TokenSharing {
  /** Gets a token through a store: the stored one, or a new one. @throws {TokenError} */
  acquire(context: AcquireContext, store: TokenStore): Promise<CachedToken>
  /** Removes an entry that an API rejected from the store. Never fails. */
  remove(context: ProviderContext, store: TokenStore, id: string): Promise<void>
}

/** The exclusive right to request a new token. Once it is lost, writes through it do nothing. */
export interface TokenLease {
  /** Stores a token; its lifetime counts from the moment the lease was taken. Resolves to the entry's ID, if it was stored. */
  write(response: TokenResponse, lifetimeMs: number): Promise<string | undefined>
  /** Stores a failure for all processes until `ttlMs` have passed or a token is written. */
  writeCooldown(error: TokenFailure, ttlMs: number): Promise<void>
  /** False if the lease was lost. */
  extend(ttlMs: number): Promise<boolean>
  release(): Promise<void>
}
