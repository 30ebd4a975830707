import { AxiosError, isCancel, type AxiosInstance, type InternalAxiosRequestConfig } from 'axios'

/** Creates errors of the instance's own copy of axios: a program may load two, with `import` and with `require`. */
export function createAxiosErrors(instance: Pick<AxiosInstance, 'getUri'>) {
  const InstanceError = errorClassOf(instance)
  return {
    /** For a request that was not sent, because of its timeout or a missing token. axios handles cancellations itself. */
    notSent(cause: Error, config: InternalAxiosRequestConfig): AxiosError {
      const { timeout, timeoutErrorMessage, transitional } = config
      const late = cause.name === 'TimeoutError'
      const message = late ? timeoutErrorMessage || `timeout of ${timeout}ms exceeded` : cause.message
      const lateCode = transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
      const error = new InstanceError(message, late ? lateCode : 'ERR_TOKEN', config)
      return Object.defineProperty(error, 'cause', { value: cause })
    },
    /** For a redirect that cannot be followed: the error of axios' fetch adapter. */
    networkError(cause: Error, config: InternalAxiosRequestConfig): AxiosError {
      const error = new InstanceError('Network Error', AxiosError.ERR_NETWORK, config)
      return Object.defineProperty(error, 'cause', { value: cause.cause ?? cause })
    },
    /** Turns an error of this copy of axios into one of the instance's copy. */
    adopt(error: unknown): unknown {
      const foreign = error instanceof AxiosError && !(error instanceof InstanceError) && !isCancel(error)
      return foreign ? Object.setPrototypeOf(error, InstanceError.prototype) : error
    },
  }
}

function errorClassOf(instance: Pick<AxiosInstance, 'getUri'>): typeof AxiosError {
  try {
    // An invalid URL: axios throws its own error.
    instance.getUri({ url: 'http:' })
  } catch (error) {
    if ((error as Error).name === 'AxiosError') return (error as Error).constructor as typeof AxiosError
  }
  return AxiosError
}
