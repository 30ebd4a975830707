import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

const inspectSymbol = Symbol.for('nodejs.util.inspect.custom')

/**
 * Keeps the token out of sight of whoever logs a response or an error, both of which lead to the request
 * that carried it, and shows the caller's own configuration instead.
 */
export function conceal<Outcome extends AxiosResponse | AxiosError | undefined>(
  outcome: Outcome,
  config: InternalAxiosRequestConfig,
): Outcome {
  if (!outcome?.config) return outcome
  outcome.config = config
  if ('response' in outcome && outcome.response) conceal(outcome.response, config)
  if (outcome.request) Object.defineProperty(outcome, 'request', { enumerable: false })
  // Node's streams know the request they answer.
  const stream = 'data' in outcome && outcome.data?.pipe ? outcome.data : undefined
  for (const carrier of [outcome.request, stream]) {
    const redacted = { value: () => '[redacted]', configurable: true }
    if (carrier) Object.defineProperties(carrier, { [inspectSymbol]: redacted, toJSON: redacted })
  }
  return outcome
}
