import type { InternalAxiosRequestConfig as Config } from 'axios'

/** The remaining `timeout` in milliseconds of a request that started at `startedAt`, by `performance.now()`. */
export function remainingTimeout({ timeout = 0 }: Config, startedAt: number): number {
  return Math.max(1, Math.ceil(startedAt + timeout - performance.now()))
}

/** Aborts the wait for a token at the request's `timeout` or cancellation. */
export function tokenWaitSignal(config: Config, startedAt: number): AbortSignal {
  const { timeout, signal, cancelToken } = config
  const timedOut = timeout ? AbortSignal.timeout(remainingTimeout(config, startedAt)) : undefined
  const signals = [signal, cancelToken?.toAbortSignal(), timedOut]
  return AbortSignal.any(signals.filter((each) => each instanceof AbortSignal))
}
