import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { RefusalReason } from './protocol-error.ts'

/** What came of a request; holds nothing secret. */
export interface RequestOutcome {
  readonly clientId?: string | undefined
  readonly reason?: RefusalReason | undefined
}

export interface SeenRequest extends RequestOutcome {
  readonly method: string
  /** The route's own path, never the text of the request's: that may hold anything. */
  readonly path: string
  readonly status: number
  readonly durationMs: number
  readonly address: string
}

export type RequestObserver = (seen: SeenRequest) => void

const name = 'outcome'

/** Makes room for the outcome in every request of the server. */
export function keepOutcomes(server: FastifyInstance): void {
  server.decorateRequest(name, null)
}

export function noteOutcome(request: FastifyRequest, outcome: RequestOutcome): void {
  request.setDecorator(name, outcome)
}

export function outcomeOf(request: FastifyRequest): RequestOutcome {
  return request.getDecorator<RequestOutcome | null>(name) ?? {}
}

/** Tells the observers of each request once it is answered. */
export function observeRequests(server: FastifyInstance, observers: readonly RequestObserver[]): void {
  if (observers.length === 0) return
  server.addHook('onResponse', (request, reply, done) => {
    const seen: SeenRequest = {
      method: request.method,
      path: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      durationMs: reply.elapsedTime,
      address: request.ip,
      ...outcomeOf(request),
    }
    for (const observe of observers) observe(seen)
    done()
  })
}
