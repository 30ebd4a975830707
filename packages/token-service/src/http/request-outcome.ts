import type { FastifyInstance, FastifyRequest, FastifyBaseLogger } from 'fastify'
import type { ErrorReason } from '../oauth/protocol-error.ts'

/** Who sent a request, and why it was rejected; contains no secrets. */
export interface RequestOutcome {
  readonly clientId?: string | undefined
  readonly reason?: ErrorReason | undefined
}

export interface ObservedRequest extends RequestOutcome {
  readonly method: string
  /** The route's pattern, not the requested URL, which may contain anything. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly address: string
}

export type RequestObserver = (request: ObservedRequest) => void

const name = 'outcome'

/** Adds the property that holds the outcome to every request. */
export function decorateWithOutcome(server: FastifyInstance): void {
  server.decorateRequest(name, null)
}

export function setOutcome(request: FastifyRequest, outcome: RequestOutcome): void {
  request.setDecorator(name, outcome)
}

export function outcomeOf(request: FastifyRequest): RequestOutcome {
  return request.getDecorator<RequestOutcome | null>(name) ?? {}
}

/** Calls the observers after each response. */
export function observeRequests(server: FastifyInstance, observers: readonly RequestObserver[]): void {
  if (observers.length === 0) return
  server.addHook('onResponse', (request, reply, done) => {
    const observed: ObservedRequest = {
      method: request.method,
      path: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      address: request.ip,
      ...outcomeOf(request),
    }
    for (const observe of observers) observe(observed)
    done()
  })
}

/** One line per request. */
export function logRequests(logger: FastifyBaseLogger): RequestObserver {
  return ({ durationMs, ...request }) =>
    logger.info({ ...request, ms: Math.round(durationMs * 10) / 10 }, 'request')
}
