/**
 * Calls a listener. Its errors are ignored, also those of an asynchronous listener: the caller did not cause them. For
 * authors of stores.
 */
export async function notifyListener<Event>(
  listener: ((event: Event) => void) | undefined,
  event: Event,
): Promise<void> {
  try {
    await (listener?.(event) as unknown)
  } catch {}
}

/**
 * Adds a listener to a set. One that is added twice can be removed once.
 *
 * @returns removes it; whether it was there
 */
export function addListener<Event>(
  listeners: Set<(event: Event) => void>,
  listener: (event: Event) => void,
): () => boolean {
  const own = (event: Event): void => listener(event)
  listeners.add(own)
  return () => listeners.delete(own)
}
