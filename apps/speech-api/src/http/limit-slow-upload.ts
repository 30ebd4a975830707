import { raceSignal } from 'race-signal'
import { ApiError } from './api-error.ts'

export interface SlowUploadLimits {
  /** Time to send the headers of a request, in milliseconds.
   * @default 10_000
   */
  readonly headersMs?: number | undefined
  /** Longest pause in an upload, in milliseconds.
   * @default 10_000
   */
  readonly idleMs?: number | undefined
  /** Minimum average rate of an upload. The slowest recording in real time has 8,000 bytes per second.
   * @default 4_000
   */
  readonly minBytesPerSecond?: number | undefined
  /** Time before the minimum rate applies, in milliseconds.
   * @default 5_000
   */
  readonly graceMs?: number | undefined
}

/**
 * Yields an upload as it arrives. Only the time that the server waits for the client counts, so a busy engine does not
 * make an upload slow.
 *
 * @throws {ApiError} 408 if the upload pauses for too long or is too slow
 */
export async function* limitSlowUpload(
  upload: AsyncIterable<Uint8Array>,
  { idleMs = 10_000, minBytesPerSecond = 4_000, graceMs = 5_000 }: SlowUploadLimits,
): AsyncGenerator<Uint8Array> {
  const iterator = upload[Symbol.asyncIterator]()
  let waitedMs = 0
  let bytes = 0
  try {
    for (;;) {
      const rateLimitMs = graceMs + (bytes / minBytesPerSecond) * 1_000 - waitedMs
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(tooSlow()), Math.max(0, Math.min(idleMs, rateLimitMs)))
      const startedAt = performance.now()
      const next = await raceSignal(iterator.next(), timeout.signal).finally(() => clearTimeout(timer))
      if (next.done) return
      bytes += next.value.length
      waitedMs += performance.now() - startedAt
      yield next.value
    }
  } finally {
    // Not awaited: `return` waits for a pending read.
    iterator.return?.().catch(() => undefined)
  }
}

function tooSlow(): ApiError {
  return new ApiError(408, 'upload_too_slow', 'The upload is too slow or has stopped.', {
    headers: { connection: 'close' },
  })
}
