import { hasValidity, stateOf, type CachedToken } from '../acquire/cached-token.ts'
import type { Clock } from '../runtime/clock.ts'
import type { AccessToken } from '../tokens/access-token.ts'
import type { TokenRequestReason } from '../tokens/token-event.ts'
import type { GetTokenToAttachOptions } from './attachable-token-provider.ts'
import type { RejectionBudget } from './rejection-budget.ts'

/** What one call needs. */
export interface Demand extends GetTokenToAttachOptions {
  /** A token other than this one: an API has rejected it. */
  readonly replacementOf?: AccessToken | undefined
}

export const noDemand: Demand = {}

/** Whether a cached token meets a demand, apart from its state. */
export function suffices(
  cached: CachedToken,
  { forceRefresh, minimumValidityMs = 0, waitForReplacement, replacementOf }: Demand,
  rejections: RejectionBudget | undefined,
  clock: Clock,
): boolean {
  if (forceRefresh || cached.token.value === replacementOf?.value) return false
  if (waitForReplacement && rejections?.isRejected(cached.token.value)) return false
  return minimumValidityMs === 0 || hasValidity(cached, clock, minimumValidityMs)
}

/** The token for a call that failed: a rejected one is better than none, because an API may accept it. */
export function lastResort(
  cached: CachedToken | undefined,
  { forceRefresh, waitForReplacement, replacementOf }: Demand,
  clock: Clock,
): AccessToken | undefined {
  const mayFallBack = waitForReplacement || (cached?.rejected && !forceRefresh && !replacementOf)
  return mayFallBack && stateOf(cached, clock) !== 'expiring' ? cached?.token : undefined
}

/** Why a new token is requested for a call that the cached one does not suffice for. */
export function reasonFor(
  cached: CachedToken | undefined,
  rejections: RejectionBudget | undefined,
  clock: Clock,
): TokenRequestReason {
  const state = stateOf(cached, clock)
  if (state === 'none') return 'first'
  if (state === 'expiring') return 'expiring'
  return rejections?.isRejected(cached!.token.value) ? 'rejected' : 'minimum_validity'
}
