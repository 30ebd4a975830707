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
