import type { TokenError, TokenErrorKind } from './token-error.ts'

/** First and longest cooldown of each kind, in milliseconds; it doubles with each failure in a row. */
const cooldowns: Record<TokenErrorKind, readonly [number, number]> = {
  credentials: [30_000, 300_000],
  configuration: [5_000, 60_000],
  throttled: [1_000, 10_000],
  unavailable: [1_000, 10_000],
  malformed: [1_000, 10_000],
  aborted: [0, 0],
}
/** The first rejection may be the server's fault, so one retry comes early. */
const firstRejectionMs = 1_000
const longestRetryAfterMs = 60_000

/** Doubles with each failure in a row, from the first to the longest time. */
export function doubled([firstMs, maxMs]: readonly [number, number], failures: number): number {
  return Math.min(maxMs, firstMs * 2 ** (failures - 1))
}

/** Milliseconds before the next attempt of the same request; undefined where another attempt does not help. */
export function retryDelayMs(
  { kind, retryAfterMs = 0 }: TokenError,
  attempt: number,
  remainingMs: number,
): number | undefined {
  if (kind !== 'throttled' && kind !== 'unavailable') return undefined
  const longestMs = Math.min(8_000, remainingMs / 2, 1_000 * 4 ** (attempt - 1))
  // Random, so that processes that failed together do not retry together, but not so early that all three attempts
  // fall within the two seconds that an endpoint takes to restart.
  return Math.max(retryAfterMs, (longestMs * (1 + Math.random())) / 2)
}

/** The cooldown after `failures` failures in a row, in milliseconds. */
export function cooldownMsOf(error: TokenError, failures: number): number {
  const { kind, retryAfterMs = 0 } = error
  const requestedMs = Math.min(retryAfterMs, longestRetryAfterMs)
  if (kind === 'throttled') return requestedMs || doubled(cooldowns.throttled, failures)
  if (kind === 'unavailable') return Math.max(requestedMs, doubled(cooldowns.unavailable, failures))
  if (kind === 'credentials') {
    return failures === 1 ? firstRejectionMs : doubled(cooldowns.credentials, failures - 1)
  }
  return doubled(cooldowns[kind], failures)
}

/** The longest cooldown that {@link cooldownMsOf} returns for a kind; 0 for one of another version. */
export function longestCooldownMs(kind: TokenErrorKind): number {
  if (kind === 'throttled' || kind === 'unavailable') return longestRetryAfterMs
  return Object.hasOwn(cooldowns, kind) ? cooldowns[kind][1] : 0
}
