import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios'

const redacted = [Symbol.for('nodejs.util.inspect.custom'), 'toJSON'] as const
const placeholder = { value: () => '[redacted]' }

/** Hides the members of an object from logs; they stay readable for programs. */
function redact(value: object): void {
  // Reflect returns false for a frozen object instead of throwing.
  for (const name of redacted) Reflect.defineProperty(value, name, placeholder)
}

/**
 * Hides the agents of a configuration, which errors and responses contain: an agent references its sockets, and they
 * reference all requests in flight, with their tokens.
 */
export function redactAgents({ httpAgent, httpsAgent, fetchOptions }: InternalAxiosRequestConfig): void {
  if (!httpAgent && !httpsAgent && !fetchOptions) return
  const { dispatcher } = Object(fetchOptions) as { dispatcher?: unknown }
  for (const agent of [httpAgent, httpsAgent, dispatcher]) {
    const { toJSON } = Object(agent) as { toJSON?: unknown }
    if (agent && toJSON !== placeholder.value) redact(agent)
  }
}

/**
 * Hides the token from logs of a response, which references the request that carried it, and restores the caller's
 * configuration.
 */
export function redactResponse(response: AxiosResponse, config: InternalAxiosRequestConfig): void {
  redactRequest(response, config)
  // Node's streams reference their request.
  if (response.data?.pipe) redact(response.data)
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
  redact(outcome.request)
}
