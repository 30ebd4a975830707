import type { InternalAxiosRequestConfig } from 'axios'

export type Patience = ReturnType<typeof createPatience>

/** How long a request waits for its token: within its own `timeout`, and until it is cancelled. */
export function createPatience({ timeout = 0, signal, cancelToken }: InternalAxiosRequestConfig) {
  const deadline = timeout && performance.now() + timeout
  const leftMs = (): number => Math.max(1, Math.ceil(deadline - performance.now()))
  return {
    /** What is left of the time, for the request itself. */
    timeLeft: () => (timeout ? { timeout: leftMs() } : undefined),
    signal: (): AbortSignal => {
      const over = timeout ? AbortSignal.timeout(leftMs()) : undefined
      const ends = [signal, cancelToken?.toAbortSignal(), over]
      return AbortSignal.any(ends.filter((end) => end instanceof AbortSignal))
    },
  }
}
