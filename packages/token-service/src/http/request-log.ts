import type { FastifyBaseLogger } from 'fastify'
import type { RequestObserver } from './request-outcome.ts'

/** One line per request. */
export function logRequests(logger: FastifyBaseLogger): RequestObserver {
  return ({ durationMs, ...request }) =>
    logger.info({ ...request, ms: Math.round(durationMs * 10) / 10 }, 'request')
}
