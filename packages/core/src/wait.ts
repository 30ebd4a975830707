/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort)
  })
}

/**
 * Settles as `work` does, but rejects with `late()` after `ms` and with the signal's reason once it is aborted,
 * even where the work heeds no signal. The work's own signal is aborted in both cases.
 */
export function settleWithin<Value>(
  work: (signal: AbortSignal) => Promise<Value>,
  ms: number,
  signal: AbortSignal,
  late: () => Error,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const controller = new AbortController()
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
    const abandon = (reason: Error): void => {
      done()
      reject(reason)
      controller.abort(reason)
    }
    const onAbort = (): void => abandon(signal.reason as Error)
    const timer = setTimeout(() => abandon(late()), ms)
    signal.addEventListener('abort', onAbort)
    work(controller.signal).then(resolve, reject).finally(done)
  })
}
