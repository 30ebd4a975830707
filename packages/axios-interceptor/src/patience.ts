import type { InternalAxiosRequestConfig as Config } from 'axios'

/** What is left of the `timeout` of a request that began at `began` by `performance.now()`, in milliseconds. */
export function timeLeft({ timeout = 0 }: Config, began: number): number {
  return Math.max(1, Math.ceil(began + timeout - performance.now()))
}

/** How long a request waits for its token: within its own `timeout`, and until it is cancelled. */
export function patienceOf(config: Config, began: number): AbortSignal {
  const { timeout, signal, cancelToken } = config
  const over = timeout ? AbortSignal.timeout(timeLeft(config, began)) : undefined
  const ends = [signal, cancelToken?.toAbortSignal(), over]
  return AbortSignal.any(ends.filter((end) => end instanceof AbortSignal))
}
