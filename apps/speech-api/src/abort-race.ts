export interface AbortRace extends Disposable {
  /** Settles as the promise does, or rejects with the signal's reason as soon as it aborts. */
  run<T>(promise: PromiseLike<T>): Promise<T>
}

/** For what has to be left at once when a signal aborts, whatever it is waiting for. */
export function createAbortRace(signal: AbortSignal): AbortRace {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => undefined)
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return {
    run: (promise) => Promise.race([promise, aborted]),
    [Symbol.dispose]: () => signal.removeEventListener('abort', abort),
  }
}

/** Reads on until the signal aborts, and then ends with its reason, even in the middle of a read. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted()
  using race = createAbortRace(signal)
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await race.run(iterator.next())
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: it may wait for a read that nothing ends but the reader's own failure.
    iterator.return?.().catch(() => undefined)
  }
}
