import { onAbort } from './abort.ts'

/**
 * Settles as `work` does, unless `signal` is aborted or `ms` milliseconds pass first. Then it rejects with
 * the signal's reason or the error of `onTimeout`, and calls `onLeave`: this caller no longer waits.
 *
 * @param onTimeout creates the error; undefined resolves instead
 */
export function waitFor<Value>(
  work: Promise<Value>,
  ms: number,
  signal: AbortSignal | undefined,
  onTimeout: () => Error | undefined,
  onLeave?: () => void,
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
    const timer = setTimeout(leave, ms)
    work.then(settleWith(resolve), settleWith(reject))
    if (signal) stopListening = onAbort(signal, leave)
  })
}

/** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return waitFor(new Promise<never>(() => {}), ms, signal, () => undefined)
}
