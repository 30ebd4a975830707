import { sleep } from '../runtime/timers.ts'
import type { TokenStore } from '../tokens/token-store.ts'
import type { CachedToken } from './cached-token.ts'
import { requestWithRetries, type AcquireContext, type ProviderContext } from './request-with-retries.ts'

/** How providers share tokens. Only stores import it, so that programs without a store do not bundle it. */
export interface Sharing {
  /** Gets a token through a store: the stored one, or a new one. @throws {TokenError} */
  acquire(context: AcquireContext, store: TokenStore): Promise<CachedToken>
  /** Removes an entry that an API rejected from the store. Never fails. */
  remove(context: ProviderContext, store: TokenStore, id: string): Promise<void>
}

/** Gets a token through the provider's store, if it has one, or directly from its source. */
export async function acquireToken(context: AcquireContext, delayMs: number): Promise<CachedToken> {
  // Waits for at least one turn of the event loop, because a listener may request this very token.
  await (delayMs > 0 ? sleep(delayMs, context.signal) : undefined)
  const { store } = context.settings
  return store ? sharingOf(store).acquire(context, store) : (await requestWithRetries(context)).cached
}

/** `store.sharing` has an opaque public type. */
export function sharingOf(store: TokenStore): Sharing {
  return store.sharing as Sharing
}
