import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

const placeholder = { value: () => '[redacted]', configurable: true }
const redacted = { toJSON: placeholder, [Symbol.for('nodejs.util.inspect.custom')]: placeholder }

/**
 * Hides the token from logs of a response, which references the request that carried it, and restores the caller's
 * configuration.
 */
export function redactResponse(response: AxiosResponse, config: InternalAxiosRequestConfig): void {
  redactRequest(response, config)
  // Node's streams reference their request.
  if (response.data?.pipe) Object.defineProperties(response.data, redacted)
}

/** Does the same for an error; returns its response, if any. */
export function redactError(error: unknown, config: InternalAxiosRequestConfig): AxiosResponse | undefined {
  const { config: sent, response } = Object(error) as Partial<AxiosError>
  if (sent) redactRequest(error as AxiosError, config)
  if (response) redactResponse(response, config)
  return response
}

function redactRequest(outcome: AxiosResponse | AxiosError, config: InternalAxiosRequestConfig): void {
  outcome.config = config
  if (!outcome.request) return
  Object.defineProperty(outcome, 'request', { enumerable: false })
  Object.defineProperties(outcome.request, redacted)
}
