import type { FastifyBaseLogger } from 'fastify'
import { StorageFailure } from '../storage/storage-failure.ts'

const intervalMs = 60_000

/**
 * Logs errors. While the storage fails, every request fails with it; these failures share one line per minute, which
 * counts them.
 */
export function createFailureLog(
  log: Pick<FastifyBaseLogger, 'error'>,
  now = () => performance.now(),
): (error: unknown) => void {
  let failures = 0
  let nextLineMs = -Infinity
  return (error) => {
    if (!(error instanceof StorageFailure)) return log.error(error)
    failures += 1
    if (now() < nextLineMs) return
    log.error({ failures }, error.message)
    failures = 0
    nextLineMs = now() + intervalMs
  }
}
