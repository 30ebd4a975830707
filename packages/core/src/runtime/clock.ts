/** A source of time; both readings in milliseconds. */
export interface Clock {
  /** Wall clock: milliseconds since 1970. May be set back or forward. */
  now(): number
  /** Monotonic clock, with an arbitrary origin. May stop while the machine sleeps. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** One moment, read from both clocks. */
export interface Instant {
  readonly wall: number
  readonly monotonic: number
}

export function readInstant(clock: Clock): Instant {
  return { wall: clock.now(), monotonic: clock.monotonic() }
}

/**
 * Milliseconds since `start`, by the clock that advanced further: a wall clock that is set back does not
 * extend a token's lifetime, and neither does a sleeping laptop, whose monotonic clock stops.
 */
export function elapsedSince(start: Instant, clock: Clock): number {
  return Math.max(clock.now() - start.wall, clock.monotonic() - start.monotonic)
}
