import { elapsedSince, readInstant, type Clock } from '../platform/clock.ts'
import { TokenError } from '../protocol/token-error.ts'

/** First and longest hold of each kind, in milliseconds; it doubles with each failure in a row. */
const holds: Record<TokenError['kind'], readonly [number, number]> = {
  credentials: [30_000, 300_000],
  configuration: [5_000, 60_000],
  throttled: [1_000, 10_000],
  unavailable: [1_000, 10_000],
  malformed: [1_000, 10_000],
  aborted: [0, 0],
}
const longestThrottleMs = 60_000

function doubled([firstMs, mostMs]: readonly [number, number], failures: number): number {
  return Math.min(mostMs, firstMs * 2 ** (failures - 1))
}

/** Milliseconds before the next attempt of the same flight; undefined where another attempt does not help. */
export function retryDelay({ kind, retryAfterMs = 0 }: TokenError, attempt: number): number | undefined {
  if (kind !== 'throttled' && kind !== 'unavailable') return undefined
  // Full jitter, so that those who failed together do not return together.
  return Math.max(retryAfterMs, Math.random() * doubled([500, 5_000], attempt))
}

/** Failures in a row: how long callers are spared another request, and how long a renewal waits. */
export interface Cooldown {
  readonly error: TokenError
  readonly count: number
  /** Milliseconds during which callers without a token get the same error; zero or less once they may ask again. */
  heldMs(): number
  /** Whether a token that still lives is not to be renewed yet. */
  renewalPaused(): boolean
}

export function createCooldown(error: TokenError, before: Cooldown | undefined, clock: Clock): Cooldown {
  const { kind, retryAfterMs } = error
  const since = readInstant(clock)
  const count = (before?.count ?? 0) + 1
  const ownMs = doubled(holds[kind], count)
  const holdMs = kind === 'throttled' ? Math.min(retryAfterMs || ownMs, longestThrottleMs) : ownMs
  const pauseMs = Math.max(
    1_000,
    Math.random() * doubled([2_000, 60_000], count),
    kind === 'credentials' ? holdMs : 0,
  )
  return {
    error,
    count,
    heldMs: () => holdMs - elapsedSince(since, clock),
    renewalPaused: () => elapsedSince(since, clock) < pauseMs,
  }
}

/** The error of a hold, with what is left of it. */
export function heldError(error: TokenError, heldMs: number): TokenError {
  const message = `${error.message}; not asked again for ${Math.ceil(heldMs / 1000)} s`
  const retryAfterMs = error.kind === 'throttled' ? Math.ceil(heldMs) : error.retryAfterMs
  return new TokenError(Object.assign({}, error, { message, retryAfterMs }))
}
