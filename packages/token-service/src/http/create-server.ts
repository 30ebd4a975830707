import { fastify, LogController, type FastifyBaseLogger, type FastifyInstance } from 'fastify'
import { ProtocolError, type Format } from '../oauth/protocol-error.ts'
import { handleErrors, sendError } from './error-handling.ts'
import { maxBodyBytes } from './oauth-routes.ts'
import { rejectAmbiguousRequests, respondToMalformedRequests } from './malformed-requests.ts'
import { decorateWithOutcome } from './request-outcome.ts'
import { trusts, type TrustProxy } from './trusted-proxies.ts'

/** A Fastify server that limits sizes and times of requests. */
export function createServer({
  format,
  logger,
  trustProxy,
}: {
  readonly format: Format
  readonly logger?: FastifyBaseLogger | undefined
  readonly trustProxy: TrustProxy
}): FastifyInstance {
  const server = fastify({
    ...(logger && { loggerInstance: logger }),
    // Fastify's own log lines contain the URLs of requests, which may contain anything.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustProxy === false ? false : trusts(trustProxy),
    bodyLimit: maxBodyBytes,
    requestTimeout: 10_000,
    connectionTimeout: 30_000,
    keepAliveTimeout: 72_000,
    // Creating an embedded database takes time.
    pluginTimeout: 120_000,
    // A request that arrives while the service stops still gets its response, and the connection is closed after it.
    return503OnClosing: false,
    http: { maxHeaderSize: 8 * 1024, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    clientErrorHandler: respondToMalformedRequests(format),
    frameworkErrors: (_error, _request, reply) => {
      sendError(reply, new ProtocolError('malformed_request'), format)
    },
  })
  respondToHalfClosedConnections(server)
  decorateWithOutcome(server)
  rejectAmbiguousRequests(server)
  handleErrors(server, { format })
  server.setNotFoundHandler((_request, reply) => sendError(reply, new ProtocolError('not_found'), format))
  return server
}

/** A client may close its side of the connection once it has sent its request; Node would then drop the response. */
function respondToHalfClosedConnections({ server }: FastifyInstance): void {
  Object.assign(server, { httpAllowHalfOpen: true })
}
