import { sleep } from '../runtime/timers.ts'
import type { CachedToken } from './cached-token.ts'
import { requestWithRetries, type AcquireContext } from './request-with-retries.ts'
import type { TokenStore } from './sharing/token-store.ts'

/** Gets a token through the provider's store, if it has one, or directly from its source. */
export async function acquireToken(
  context: AcquireContext,
  store: TokenStore | undefined,
): Promise<CachedToken> {
  const { delayMs = 0 } = context.request.options
  // Waits for at least one turn of the event loop, because a listener may request this very token.
  await (delayMs > 0 ? sleep(delayMs, context.signal) : undefined)
  return store ? store.sharing.acquire(context, store) : (await requestWithRetries(context)).cached
}
