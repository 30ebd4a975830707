const callbacks = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `callback` once the signal is aborted, at once if it already is; returns a function that cancels this. A
 * signal gets one listener regardless of how many callers share it, because Node warns of a leak at the eleventh.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback()
    return () => {}
  }
  const shared = callbacks.get(signal) ?? listen(signal)
  // Wrapped, so that a callback passed twice is called twice.
  const own = (): void => callback()
  shared.add(own)
  return () => {
    if (shared.delete(own) && shared.size === 0) stopListening.get(shared)?.()
  }
}

const stopListening = new WeakMap<Set<() => void>, () => void>()

function listen(signal: AbortSignal): Set<() => void> {
  const shared = new Set<() => void>()
  const notifyAll = (): void => {
    stop()
    for (const callback of shared) callback()
  }
  const stop = (): void => {
    signal.removeEventListener('abort', notifyAll)
    callbacks.delete(signal)
  }
  signal.addEventListener('abort', notifyAll)
  callbacks.set(signal, shared)
  stopListening.set(shared, stop)
  return shared
}

/** Aborts; in Workers, aborting the I/O of a request that has ended throws, and there is nothing left to abort. */
export function abortQuietly(controller: AbortController, reason?: unknown): void {
  try {
    controller.abort(reason)
  } catch {}
}
