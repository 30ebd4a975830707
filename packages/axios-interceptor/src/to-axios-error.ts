import { AxiosError, type InternalAxiosRequestConfig } from 'axios'

/** As axios fails when a request's time is over; else for want of a token. Of cancellations axios takes care itself. */
export function toAxiosError(cause: Error, config: InternalAxiosRequestConfig): AxiosError {
  const { timeout, timeoutErrorMessage, transitional } = config
  const late = cause.name === 'TimeoutError'
  const message = late ? timeoutErrorMessage || `timeout of ${timeout}ms exceeded` : cause.message
  const lateCode = transitional?.clarifyTimeoutError ? AxiosError.ETIMEDOUT : AxiosError.ECONNABORTED
  const error = new AxiosError(message, late ? lateCode : 'ERR_TOKEN', config)
  return Object.defineProperty(error, 'cause', { value: cause })
}
