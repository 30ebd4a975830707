import { AxiosError, CanceledError, isCancel, type InternalAxiosRequestConfig } from 'axios'

/** Waits no longer than the request's `signal`, `cancelToken` and `timeout` allow, and fails as axios does. */
export async function waitForToken<Value>(
  config: InternalAxiosRequestConfig,
  started: number,
  get: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const { signal, cancelToken, timeout = 0, timeoutErrorMessage, transitional } = config
  const controller = new AbortController()
  const cancel = (reason?: unknown) =>
    controller.abort(isCancel(reason) ? reason : new CanceledError(undefined, config))
  const tellLate = () => {
    const message = timeoutErrorMessage ?? `timeout of ${timeout}ms exceeded`
    const code = transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
    controller.abort(new AxiosError(message, code, config))
  }
  if (signal?.aborted) cancel()
  signal?.addEventListener?.('abort', cancel)
  cancelToken?.subscribe(cancel)
  const timer = timeout > 0 ? setTimeout(tellLate, timeout - (performance.now() - started)) : undefined
  try {
    return await get(controller.signal)
  } catch (error) {
    if (error instanceof AxiosError) throw error
    const failure = new AxiosError((error as Error).message, 'ERR_TOKEN', config)
    // Not enumerable, as axios has it.
    throw Object.defineProperty(failure, 'cause', { value: error, configurable: true, writable: true })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener?.('abort', cancel)
    cancelToken?.unsubscribe(cancel)
  }
}
