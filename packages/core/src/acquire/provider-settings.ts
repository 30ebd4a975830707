import type { Clock } from '../runtime/clock.ts'
import type { TokenEventListener } from '../tokens/token-event.ts'

/** The options of a provider with their defaults; how it shares tokens is in its store. */
export interface ProviderSettings {
  readonly label?: string | undefined
  readonly store?: object | undefined
  readonly refreshAheadMs?: number | undefined
  readonly expiryMarginMs?: number | undefined
  readonly defaultLifetimeMs: number
  readonly timeoutMs: number
  readonly attemptTimeoutMs: number
  readonly maxAttempts: number
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  readonly onEvent?: TokenEventListener | undefined
  readonly clock: Clock
}

/** Longer delays overflow the timers of every runtime. */
export const longestTimer = 2 ** 31 - 1_000
