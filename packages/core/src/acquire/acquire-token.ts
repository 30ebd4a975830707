import { sleep } from '../platform/timers.ts'
import { acquireSharedToken } from './acquire-shared-token.ts'
import type { CachedToken } from './cached-token.ts'
import { requestToken, type AcquireContext } from './request-token.ts'

/** Gets a token through the provider's store, if it has one, or directly from its source. */
export async function acquireToken(context: AcquireContext, delayMs: number): Promise<CachedToken> {
  // At least one turn of the event loop later: a listener may request this very token.
  await (delayMs > 0 ? sleep(delayMs, context.signal) : undefined)
  const { store } = context.settings
  return store ? acquireSharedToken(context, store) : (await requestToken(context)).cached
}
