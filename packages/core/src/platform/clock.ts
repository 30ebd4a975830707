/** Where the time comes from; both readings in milliseconds. */
export interface Clock {
  /** Wall clock: milliseconds since 1970. May be set back or jump. */
  now(): number
  /** Monotonic clock, from any origin. May stand still while the machine sleeps. */
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
 * Milliseconds since `start` by whichever clock went further: a wall clock set back does not lengthen a
 * token's life, nor does a laptop asleep, whose monotonic clock stood still.
 */
export function elapsedSince(start: Instant, clock: Clock): number {
  return Math.max(clock.now() - start.wall, clock.monotonic() - start.monotonic)
}
