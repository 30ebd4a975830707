import type { TokenError } from './token-error.ts'

/** Doubles `firstMs` with each further failure, `mostMs` at the most. */
function doubled(firstMs: number, failures: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 30))
}

/** Full jitter: anything up to the doubled delay, so that those who failed together do not return together. */
function jittered(firstMs: number, failures: number, mostMs: number): number {
  return Math.random() * doubled(firstMs, failures, mostMs)
}

/** Milliseconds before the next attempt of the same flight; undefined where another attempt does not help. */
export function retryDelay({ kind, retryAfterMs }: TokenError, attempt: number): number | undefined {
  if (kind !== 'throttled' && kind !== 'unavailable') return undefined
  return Math.max(retryAfterMs ?? 0, jittered(500, attempt, 5_000))
}

/** Milliseconds during which callers get the same error without another request. */
export function holdDuration({ kind, retryAfterMs }: TokenError, failures: number): number {
  switch (kind) {
    case 'credentials':
      return doubled(30_000, failures, 300_000)
    case 'configuration':
      return doubled(5_000, failures, 60_000)
    case 'throttled':
      return Math.min(retryAfterMs ?? doubled(1_000, failures, 10_000), 60_000)
    case 'unavailable':
    case 'malformed':
      return Math.max(doubled(1_000, failures, 10_000), Math.min(retryAfterMs ?? 0, 60_000))
    case 'aborted':
      return 0
  }
}

/** Milliseconds before a failed renewal of a token that still lives is tried again. */
export function renewalPause(failures: number): number {
  return Math.max(1_000, jittered(2_000, failures, 60_000))
}
