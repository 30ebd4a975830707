import type { TokenFailure } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'

/** A token in a store. */
export interface StoredToken {
  /** Names this very entry; another token under the same key has another. Never a token. */
  readonly id: string
  readonly response: TokenResponse
  /** Life left in milliseconds, by the store's own clock, at the moment the read was sent. */
  readonly remainingMs: number
}

/** A refusal that all users of a store keep to. */
export interface StoredCooldown {
  /** Milliseconds until the credentials may be tried again, by the store's own clock. */
  readonly cooldownMs: number
  readonly error: TokenFailure
}

/** Tokens shared between providers, or between processes. Every method may fail: callers get tokens all the same. */
export interface TokenStore {
  /** What is there: a token, a hold, or both, when a token was refused its renewal while it still lives. */
  read(key: string): Promise<StoredToken | StoredCooldown | (StoredToken & StoredCooldown) | undefined>
  /** Removes the entry `id` if it is still the one under `key`. */
  remove(key: string, id: string): Promise<void>
  /** The right to ask for a new token, for `ttlMs`; undefined while somebody else has it. */
  lease(key: string, ttlMs: number): Promise<TokenLease | undefined>
  close?(): Promise<void>
}

/** The right to ask for a new token. Once it is lost, writes through it do nothing. */
export interface TokenLease {
  /** Keeps a token; its life counts from the moment the lease was taken. Resolves to the entry's id, if it was kept. */
  write(response: TokenResponse, lifetimeMs: number): Promise<string | undefined>
  /** Keeps a refusal for all, until `ttlMs` have passed or a token is written. */
  writeCooldown(error: TokenFailure, ttlMs: number): Promise<void>
  /** False when the lease was lost. */
  extend(ttlMs: number): Promise<boolean>
  release(): Promise<void>
}
