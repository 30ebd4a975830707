import { requestToken, type AcquireContext } from './request-token.ts'
import { acquireSharedToken } from './acquire-shared-token.ts'
import type { CachedToken } from './cached-token.ts'
import { sleep } from '../platform/timers.ts'

/** A token by way of the provider's store, if it has one, or straight from its source. */
export async function acquireToken(plan: AcquireContext, delayMs: number): Promise<CachedToken> {
  // At least a turn later: a listener may ask for this very token.
  await (delayMs > 0 ? sleep(delayMs, plan.signal) : undefined)
  const { store } = plan.settings
  return store ? acquireSharedToken(plan, store) : (await requestToken(plan)).life
}
