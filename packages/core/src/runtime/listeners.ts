/** Calls a function at once, inside a context, such as that of a span. */
export type RunInContext = (run: () => void) => void

/**
 * Calls a listener. Its errors are ignored, also those of an asynchronous listener: the caller did not cause them. For
 * authors of stores.
 *
 * @returns what the listener returned
 */
export function notifyListener<Event>(
  listener: ((event: Event) => unknown) | undefined,
  event: Event,
): unknown {
  try {
    const returned = listener?.(event)
    if (typeof returned === 'object') void Promise.resolve(returned).catch(() => {})
    return returned
  } catch {
    return undefined
  }
}

/**
 * Calls several listeners.
 *
 * @returns runs a function inside all contexts that they returned; undefined if they returned none
 */
export function notifyListeners<Event>(
  listeners: Iterable<((event: Event) => unknown) | undefined>,
  event: Event,
): RunInContext | undefined {
  let runInAll: RunInContext | undefined
  for (const listener of listeners) {
    const returned = notifyListener(listener, event)
    if (typeof returned !== 'function') continue
    const inner = returned as RunInContext
    const outer = runInAll
    runInAll = outer ? (run) => outer(() => inner(run)) : inner
  }
  return runInAll
}

/** Calls a function once, if possible inside a context that a listener returned, whose errors are ignored. */
export function callInContext<Result extends object>(
  runInContext: RunInContext | undefined,
  call: () => Result,
): Result {
  let result: Result | undefined
  const callOnce = (): Result => (result ??= call())
  notifyListener(runInContext, callOnce)
  return callOnce()
}

/**
 * Adds a listener to a set. One that is added twice can be removed once.
 *
 * @returns removes it; whether it was there
 */
export function addListener<Event>(
  listeners: Set<(event: Event) => unknown>,
  listener: (event: Event) => unknown,
): () => boolean {
  const own = (event: Event): unknown => listener(event)
  listeners.add(own)
  return () => listeners.delete(own)
}
