import type { Clock } from '../runtime/clock.ts'

/** A clock that can be moved forwards and backwards, and keeps running. */
export interface MovableClock extends Clock {
  readonly offsetMs: number
  move(byMs: number): void
  reset(): void
}

export function createMovableClock(base: Clock): MovableClock {
  let offsetMs = 0
  return {
    get offsetMs() {
      return offsetMs
    },
    now: () => base.now() + offsetMs,
    move(byMs) {
      offsetMs += byMs
    },
    reset() {
      offsetMs = 0
    },
  }
}
