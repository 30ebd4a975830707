import type * as Fastify from 'fastify'
import { load } from '../platform/load.ts'
import { trusts } from '../service/trust-proxy.ts'
import type { ResolvedOptions } from '../service/token-service-options.ts'
import { respondToMalformedRequests } from './malformed-requests.ts'
import { handleErrors, sendError } from './error-handling.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import { maxBodyBytes } from './form.ts'
import { connectionTimeoutMs, requestLimits, requestTimeoutMs } from './http-server.ts'
import { decorateWithOutcome } from './request-outcome.ts'

const hasNoSchemas = () => {
  throw new Error('The routes of this server have no schemas.')
}

/** Without it, Fastify loads its validators, a tenth of the time until the service has started. */
export const withoutSchemas = {
  compilersFactory: { buildValidator: hasNoSchemas, buildSerializer: hasNoSchemas },
}

/** A Fastify server that limits sizes and times of requests. */
export function createServer({
  errors: shape,
  logger,
  trustProxy,
}: ResolvedOptions): Fastify.FastifyInstance {
  const { fastify, LogController } = load('fastify')
  const server = fastify({
    ...(logger && { loggerInstance: logger }),
    // Fastify's own log lines contain the URLs of requests, which may contain anything.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy === false ? false : trusts(trustProxy),
    schemaController: withoutSchemas,
    bodyLimit: maxBodyBytes,
    requestTimeout: requestTimeoutMs,
    connectionTimeout: connectionTimeoutMs,
    // Creating an embedded database takes time.
    pluginTimeout: 120_000,
    http: requestLimits,
    clientErrorHandler: respondToMalformedRequests(shape),
    frameworkErrors: (_error, _request, reply) => {
      sendError(reply, new ProtocolError('malformed_request'), shape)
    },
  })
  decorateWithOutcome(server)
  handleErrors(server, { shape })
  closeIdleConnections(server)
  server.setNotFoundHandler((_request, reply) => sendError(reply, new ProtocolError('not_found'), shape))
  return server
}

/** Otherwise a client that keeps its connection open after the last response would delay `close`. */
function closeIdleConnections(server: Fastify.FastifyInstance): void {
  let timer: NodeJS.Timeout | undefined
  server.addHook('preClose', (done) => {
    timer = setInterval(() => server.server.closeIdleConnections(), 50)
    done()
  })
  server.addHook('onClose', (_server, done) => {
    clearInterval(timer)
    done()
  })
}
