import { raceSignal } from 'race-signal'

/** Yields what the source yields until the signal aborts, then throws its reason, even in the middle of a read. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await raceSignal(iterator.next(), signal)
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: `return` waits for a pending read, which may never settle.
    iterator.return?.().catch(() => undefined)
  }
}
