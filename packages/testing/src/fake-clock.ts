import type { Clock } from '@tokenwell/core'

/** A clock that stands still until it is turned. */
export interface FakeClock extends Clock {
  /** Lets time pass on both of its faces. */
  advance(ms: number): void
  /** Sets the wall clock, forward or back; the monotonic one does not notice. */
  setWall(byMs: number): void
}

/** Makes a clock for a provider's `clock`; its timers stay the system's. */
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
