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
