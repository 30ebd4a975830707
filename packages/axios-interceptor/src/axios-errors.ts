import { AxiosError, isCancel, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios'

/** Makes errors of the instance's own copy of axios: a program may hold two, by `import` and by `require`. */
export function axiosErrorsOf(instance: Pick<AxiosInstance, 'getUri'>) {
  const OwnError = errorClassOf(instance)
  return {
    /** For a request that was not sent: its time was over, or no token came. Cancellations axios itself sees to. */
    because(cause: Error, config: InternalAxiosRequestConfig): AxiosError {
      const { timeout, timeoutErrorMessage, transitional } = config
      const late = cause.name === 'TimeoutError'
      const message = late ? timeoutErrorMessage || `timeout of ${timeout}ms exceeded` : cause.message
      const lateCode = transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
      const error = new OwnError(message, late ? lateCode : 'ERR_TOKEN', config)
      return Object.defineProperty(error, 'cause', { value: cause })
    },
    /** Makes an error of this copy one of the instance's. */
    adopt(error: unknown): unknown {
      const foreign = error instanceof AxiosError && !(error instanceof OwnError) && !isCancel(error)
      return foreign ? Object.setPrototypeOf(error, OwnError.prototype) : error
    },
  }
}

function errorClassOf(instance: Pick<AxiosInstance, 'getUri'>): typeof AxiosError {
  try {
    // Not an address: axios says so by its own error.
    instance.getUri({ url: 'http:' })
  } catch (error) {
    if ((error as Error).name === 'AxiosError') return (error as Error).constructor as typeof AxiosError
  }
  return AxiosError
}
