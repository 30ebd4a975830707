import type { Clock } from '../clock.ts'

/** A clock that can be set ahead or back, and goes on from there. */
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
