import { setImmediate } from 'node:timers/promises'
import { vi } from 'vitest'

/** Timers of the services; every other one is core's, or that of an act that has yet to begin. */
let ownTimers = 0

/** Timers that core has set. Only right once every act has begun. */
export function timersOfCore(): number {
  return vi.getTimerCount() - ownTimers
}

/** Runs `work` with timers that last at least as long as they should: fake ones drop fractions, and a wait for the rest never ends. */
export async function withWholeTimers<Result>(work: () => Promise<Result>): Promise<Result> {
  const { setTimeout } = globalThis
  globalThis.setTimeout = ((callback: () => void, ms = 1) =>
    setTimeout(callback, Math.max(1, Math.ceil(ms)))) as typeof setTimeout
  try {
    return await work()
  } finally {
    globalThis.setTimeout = setTimeout
  }
}

/** Calls every callback in its turn, without waiting for real time, until `isDone` or for `ms` milliseconds. */
export async function runTimers(ms: number, isDone: () => boolean): Promise<void> {
  const end = performance.now() + ms
  for (;;) {
    // Promises and streams settle before time passes.
    await setImmediate()
    if (isDone() || vi.getTimerCount() === 0 || performance.now() > end) return
    vi.advanceTimersToNextTimer()
  }
}

/** What a service takes for its response. Rejects with the signal's reason once that is aborted. */
export function takeTime(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error)
    const stop = (): void => {
      ownTimers--
      signal?.removeEventListener('abort', abort)
    }
    const timer = setTimeout(() => {
      stop()
      resolve()
    }, ms)
    const abort = (): void => {
      clearTimeout(timer)
      stop()
      reject(signal!.reason as Error)
    }
    ownTimers++
    signal?.addEventListener('abort', abort)
  })
}
