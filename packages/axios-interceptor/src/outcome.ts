import {
  AxiosError,
  isCancel,
  type AxiosInstance,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios'

export type AxiosErrors = ReturnType<typeof createAxiosErrors>

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

/** How a request ended: axios makes an error of some responses. */
export interface Outcome {
  readonly response: AxiosResponse
  readonly error?: unknown
}

/**
 * Hides the token from logs of a response and an error, which reference the request that carried it, and restores the caller's
 * configuration.
 */
export function redactOutcome<Ended extends Partial<Outcome>>(
  outcome: Ended,
  config: InternalAxiosRequestConfig,
): Ended {
  const { response, error } = outcome
  const { config: sent } = Object(error) as Partial<AxiosError>
  if (sent) redactRequest(error as AxiosError, config)
  if (response) {
    redactRequest(response, config)
    // Node's streams reference their request.
    if (response.data?.pipe) redact(response.data)
  }
  return outcome
}

function redactRequest(outcome: AxiosResponse | AxiosError, config: InternalAxiosRequestConfig): void {
  outcome.config = config
  if (!outcome.request) return
  Object.defineProperty(outcome, 'request', { enumerable: false })
  redact(outcome.request)
}
