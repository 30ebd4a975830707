import type { FastifyBaseLogger } from 'fastify'
import type { RequestObserver } from './request-outcome.ts'

/** One line for each request. */
export function logRequests(logger: FastifyBaseLogger): RequestObserver {
  return ({ durationMs, ...seen }) =>
    logger.info({ ...seen, ms: Math.round(durationMs * 10) / 10 }, 'request')
}
