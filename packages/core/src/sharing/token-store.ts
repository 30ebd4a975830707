import { TokenError, type TokenFailure } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'

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

declare const opaque: unique symbol

/** How providers share tokens through a store. Opaque: `tokenSharing` is its only value. */
export interface TokenSharing {
  readonly [opaque]: never
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

/** A failure of another process. Its cooldown applies, but is read from the store again every second. */
export class SharedFailure extends TokenError {
  readonly cooldownMs: number
  readonly failures: number

  constructor({ failures = 1, ...failure }: TokenFailure, cooldownMs: number) {
    super(failure)
    this.cooldownMs = cooldownMs
    this.failures = failures
  }
}
