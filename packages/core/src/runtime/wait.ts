interface SharedListener {
  readonly callbacks: Set<() => void>
  readonly stop: () => void
}

const listeners = new WeakMap<AbortSignal, SharedListener>()

/**
 * Calls `callback`, which no other call has passed, once the signal is aborted, at once if it already is; returns a
 * function that cancels this. A signal gets one listener regardless of how many callers share it, because Node warns of
 * a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const { callbacks, stop } = listeners.get(signal) ?? listen(signal)
  callbacks.add(callback)
  return () => {
    if (callbacks.delete(callback) && callbacks.size === 0) stop()
  }
}

function listen(signal: AbortSignal): SharedListener {
  const callbacks = new Set<() => void>()
  const notifyAll = (): void => {
    for (const callback of callbacks) callback()
  }
  const stop = (): void => {
    signal.removeEventListener('abort', notifyAll)
    listeners.delete(signal)
  }
  signal.addEventListener('abort', notifyAll)
  const listener = { callbacks, stop }
  listeners.set(signal, listener)
  return listener
}

/** Aborts; in Workers, aborting the I/O of a request that has ended throws, and there is nothing left to abort. */
export function abortQuietly(controller: AbortController, reason?: unknown): void {
  try {
    controller.abort(reason)
  } catch {}
}

/** Longer delays overflow the timers of every runtime. */
export const longestTimer = 2 ** 31 - 1_000

/** A timer that is later than this was held up by its own process. */
const blockedMs = 20

/**
 * Settles as `work` does, unless `signal` is aborted or `ms` milliseconds pass first. Then it rejects with
 * the signal's reason or the error of `onTimeout`, and calls `onLeave`: this caller no longer waits.
 *
 * While the process is blocked, no result can arrive: if it was at the end, the time is extended once by as much.
 *
 * @param onTimeout creates the error; undefined resolves instead
 * @param keepsAlive whether a program that has nothing else to do waits as well
 */
export function waitFor<Value>(
  work: Promise<Value>,
  ms: number,
  signal: AbortSignal | undefined,
  onTimeout: () => Error | undefined,
  onLeave?: () => void,
  keepsAlive = true,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let stopListening: (() => void) | undefined
    const stop = (): void => {
      clearTimeout(timer)
      stopListening?.()
    }
    const settleWith = <Result>(settle: (result: Result) => void) => {
      return (result: Result): void => {
        stop()
        settle(result)
      }
    }
    const leave = (): void => {
      stop()
      const reason = signal?.aborted ? (signal.reason as Error) : onTimeout()
      if (reason === undefined) resolve(undefined as Value)
      else reject(reason)
      onLeave?.()
    }
    const dueAt = performance.now() + ms
    const start = (callback: () => void, ms: number) => {
      const timer = limitTimer(callback, ms)
      return keepsAlive ? timer : inBackground(timer)
    }
    let timer = start(() => {
      const lateMs = performance.now() - dueAt
      if (lateMs < blockedMs) leave()
      else timer = start(leave, Math.min(lateMs, ms))
    }, ms)
    work.then(settleWith(resolve), settleWith(reject))
    if (signal) stopListening = onAbort(signal, leave)
  })
}

type Timer = ReturnType<typeof setTimeout>

/**
 * A timer for a time limit. Tests replace `setTimeout` by a function that calls back at once, so that pauses end at once: no time
 * has passed then, and the limit is not reached.
 */
export function limitTimer(callback: () => void, ms: number): Timer {
  let isStarting = true
  const timer = setTimeout(() => {
    if (!isStarting) callback()
  }, ms)
  isStarting = false
  return timer
}

/** A timer that does not keep a program alive, where the runtime can do this. */
function inBackground(timer: Timer): Timer {
  ;(timer as { unref?(): void }).unref?.()
  return timer
}

/**
 * Resolves after `ms` milliseconds; rejects with the signal's reason as soon as the signal is aborted. It does not keep a
 * program alive: a caller that waits for a token has a timer as well.
 */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    let stopListening: (() => void) | undefined
    const timer = inBackground(
      setTimeout(() => {
        stopListening?.()
        resolve()
      }, ms),
    )
    stopListening = onAbort(signal, () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    })
  })
}

const waits = new WeakMap<AbortSignal, () => string>()

/** Names what the token request with this signal waits for, in case that takes too long. */
export async function whileWaiting<Value>(
  signal: AbortSignal | undefined,
  what: () => string,
  work: Promise<Value>,
): Promise<Value> {
  if (signal === undefined) return work
  waits.set(signal, what)
  try {
    return await work
  } finally {
    waits.delete(signal)
  }
}

/** What the token request with this signal waits for, such as `The token endpoint https://…`, if that is known. */
export function waitOf(signal: AbortSignal): string | undefined {
  return waits.get(signal)?.()
}
