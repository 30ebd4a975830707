import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

const inspectSymbol = Symbol.for('nodejs.util.inspect.custom')

/** Keeps the token out of sight of whoever logs a response or an error: both lead to the request that carried it. */
export function conceal<Outcome>(outcome: Outcome, config: InternalAxiosRequestConfig): Outcome {
  const shown = outcome as Partial<AxiosResponse & AxiosError> | undefined
  if (!shown?.config) return outcome
  shown.config = config
  if (shown.response) conceal(shown.response, config)
  if (shown.request) Object.defineProperty(shown, 'request', { enumerable: false })
  // Node's streams know the request they answer.
  for (const carrier of [shown.request, shown.data?.pipe && shown.data]) {
    if (typeof carrier !== 'object' || carrier === null) continue
    const redacted = { value: () => '[redacted]', configurable: true }
    Object.defineProperties(carrier, { [inspectSymbol]: redacted, toJSON: redacted })
  }
  return outcome
}
