import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

const says = { value: () => '[redacted]', configurable: true }
const redacted = { toJSON: says, [Symbol.for('nodejs.util.inspect.custom')]: says }

/**
 * Keeps the token out of sight of whoever logs a response, which leads to the request that carried it, and shows
 * the caller's own configuration instead.
 */
export function concealIn(response: AxiosResponse, config: InternalAxiosRequestConfig): void {
  concealRequest(response, config)
  // Node's streams know the request they answer.
  if (response.data?.pipe) Object.defineProperties(response.data, redacted)
}

/** The same for an error, whose response is returned, if it has one. */
export function concealInError(
  error: unknown,
  config: InternalAxiosRequestConfig,
): AxiosResponse | undefined {
  const { config: own, response } = Object(error) as Partial<AxiosError>
  if (own) concealRequest(error as AxiosError, config)
  if (response) concealIn(response, config)
  return response
}

function concealRequest(outcome: AxiosResponse | AxiosError, config: InternalAxiosRequestConfig): void {
  outcome.config = config
  if (!outcome.request) return
  Object.defineProperty(outcome, 'request', { enumerable: false })
  Object.defineProperties(outcome.request, redacted)
}
