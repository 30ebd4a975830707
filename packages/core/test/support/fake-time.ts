import { afterEach, beforeEach, vi } from 'vitest'

/** Stops timers and both clocks until a test advances them. */
export function useFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({
      now: new Date('2026-03-01T12:00:00Z'),
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    })
    // The monotonic clock starts at an arbitrary time.
    vi.advanceTimersByTime(12_345)
    vi.setSystemTime(new Date('2026-03-01T12:00:00Z'))
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
}

/** Advances the time, and runs timers and promises. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

/** Adjusts the wall clock, forward or back; the monotonic clock is not affected. */
export function setWallClock(byMs: number): void {
  vi.setSystemTime(Date.now() + byMs)
}

/** Fixes random values: 0.5 removes jitter, and halves a backoff. */
export function fixRandom(value: number): void {
  vi.spyOn(Math, 'random').mockReturnValue(value)
}

/** The state of a promise, for tests that do not await it. */
export interface Outcome<Value> {
  state: 'pending' | 'resolved' | 'rejected'
  value?: Value
  error?: unknown
}

export function watch<Value>(promise: Promise<Value>): Outcome<Value> {
  const outcome: Outcome<Value> = { state: 'pending' }
  promise.then(
    (value) => Object.assign(outcome, { state: 'resolved', value }),
    (error: unknown) => Object.assign(outcome, { state: 'rejected', error }),
  )
  return outcome
}
