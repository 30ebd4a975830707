import type { Clock } from '../platform/clock.ts'
import type { Storage } from '../storage/storage.ts'

export interface PurgeContext {
  readonly storage: Storage
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** @default 60_000 */
  readonly intervalMs?: number | undefined
}

/** Deletes expired tokens, sessions, invitations and failure counts regularly; returns a function that stops it. */
export function purgeRegularly({
  storage,
  clock,
  onError,
  intervalMs = 60_000,
}: PurgeContext): () => Promise<void> {
  let running: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    const nowMs = clock.now()
    running = running
      .then(() =>
        Promise.all(
          [storage.tokens, storage.failures, storage.sessions, storage.developers].map((part) =>
            part.purge(nowMs),
          ),
        ),
      )
      .catch(onError)
  }, intervalMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
