/**
 * Settles as `work` does, unless `signal` is aborted or `ms` pass before: then it rejects with the signal's
 * reason, or settles as `late()` says, and `left` is told that nobody waits here any more.
 *
 * @param late makes the error; undefined resolves instead
 */
export function waitFor<Value>(
  work: Promise<Value>,
  ms: number,
  signal: AbortSignal | undefined,
  late: () => Error | undefined,
  left?: () => void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    }
    const settled = <Result>(settle: (result: Result) => void) => {
      return (result: Result): void => {
        done()
        settle(result)
      }
    }
    const leave = (): void => {
      done()
      const reason = signal?.aborted ? (signal.reason as Error) : late()
      if (reason === undefined) resolve(undefined as Value)
      else reject(reason)
      left?.()
    }
    const timer = setTimeout(leave, ms)
    work.then(settled(resolve), settled(reject))
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave)
  })
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return waitFor(new Promise<never>(() => {}), ms, signal, () => undefined)
}
