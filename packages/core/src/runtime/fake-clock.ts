import type { Clock } from './clock.ts'

/** A clock that stands still until a test advances it. */
export interface FakeClock extends Clock {
  /** Advances the wall clock and the monotonic clock. */
  advance(ms: number): void
  /** Adjusts the wall clock, forward or back; the monotonic clock is not affected. */
  setWall(byMs: number): void
}

/** Creates a clock for the `clock` option of a token provider. Timers remain the system's. */
export function createFakeClock(now = Date.parse('2026-03-01T12:00:00Z')): FakeClock {
  let wall = now
  let monotonic = 0
  return {
    now: () => wall,
    monotonic: () => monotonic,
    advance(ms) {
      wall += ms
      monotonic += ms
    },
    setWall(byMs) {
      wall += byMs
    },
  }
}
