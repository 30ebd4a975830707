import type { TokenStore } from '@tokenwell/core'
import type { TokenLease } from '@tokenwell/core/store'

/** One store and one key, as set up before each test. */
export interface StoreUnderTest {
  readonly read: () => ReturnType<TokenStore['read']>
  /** The stored token, or undefined. */
  readonly readToken: () => Promise<StoredToken | undefined>
  readonly remove: (id: string) => Promise<void>
  readonly tryLease: (ttlMs: number, slot?: 'fallback') => Promise<TokenLease | undefined>
  /** @throws if the lease is not available */
  readonly acquireLease: (ttlMs?: number) => Promise<TokenLease>
  readonly write: (token: string) => Promise<string>
  readonly passTime: (ms: number) => void | Promise<void>
}

type StoredToken = Extract<Awaited<ReturnType<TokenStore['read']>>, { readonly id: string }>
