import { keepOwner } from '@tokenwell/core/adapter'
import type { InternalAxiosRequestConfig as Config } from 'axios'

/** The timeout in milliseconds as axios reads it, which may be a string; 0 without one. */
function timeoutOf({ timeout }: Config): number {
  return timeout ? Number.parseInt(String(timeout), 10) || 0 : 0
}

/** When a request with a timeout started, by `performance.now()`. */
export function startTime(config: Config): number {
  return config.timeout ? performance.now() : 0
}

/** The rest of a request's timeout; undefined without one. */
export function remainingTimeout(config: Config, startedAt: number): number | undefined {
  const timeout = timeoutOf(config)
  return timeout > 0 ? Math.max(1, Math.ceil(startedAt + timeout - performance.now())) : undefined
}

/** A signal that aborts at the timeout or the cancellation of a request, until it is stopped. */
export interface RequestAbortSignal {
  /** Undefined for a request with neither: thousands of them would cost more than the token. */
  readonly signal: AbortSignal | undefined
  stop(): void
}

const uncancellable: RequestAbortSignal = { signal: undefined, stop() {} }

/** Not `AbortSignal.any`, which leaks on Node 22: callers share one signal or cancel token between many requests. */
export function abortSignalOf(config: Config, startedAt: number): RequestAbortSignal {
  const { cancelToken } = config
  // axios, too, calls the methods that its type says may be missing.
  const signal = config.signal as AbortSignal | undefined
  if (!startedAt && !cancelToken) return signal ? { signal, stop() {} } : uncancellable
  const controller = new AbortController()
  keepOwner(signal, controller.signal)
  const abort = () => controller.abort(signal?.aborted ? signal.reason : cancelToken?.reason)
  const ms = remainingTimeout(config, startedAt)
  const timer =
    ms && setTimeout(() => controller.abort(new DOMException('The timeout was exceeded', 'TimeoutError')), ms)
  signal?.addEventListener('abort', abort)
  cancelToken?.subscribe(abort)
  if (signal?.aborted) abort()
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      cancelToken?.unsubscribe(abort)
    },
  }
}
