import { afterEach, beforeEach, vi } from 'vitest'

/** Timers and both clocks stand still in these tests until they are turned. */
export function useFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers({
      now: new Date('2026-03-01T12:00:00Z'),
      toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance'],
    })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
}

/** Lets time pass, timers and promises included. */
export async function pass(ms: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms)
}

/** The wall clock is set, forward or back; the monotonic one does not notice. */
export function setWallClock(byMs: number): void {
  vi.setSystemTime(Date.now() + byMs)
}

/** Takes the chance out of jitter: 0.5 is no spread at all, and half of any backoff. */
export function fixRandom(value: number): void {
  vi.spyOn(Math, 'random').mockReturnValue(value)
}

/** How a promise stands, for promises that are not to be awaited. */
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
