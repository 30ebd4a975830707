import Fastify, { LogController, type FastifyInstance } from 'fastify'
import type { ResolvedOptions } from '../token-service-options.ts'
import { answerBrokenRequests } from './broken-requests.ts'
import { handleErrors, sendRefusal } from './error-handling.ts'
import { ProtocolError } from './protocol-error.ts'
import { keepOutcomes } from './request-outcome.ts'

/** A Fastify server that bounds what a client may send and how long it may take. */
export function createServer({ errors: shape, logger, trustProxy }: ResolvedOptions): FastifyInstance {
  const server = Fastify({
    ...(logger && { loggerInstance: logger }),
    // Its own lines would hold addresses with whatever people put into them.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy,
    bodyLimit: 16 * 1024,
    requestTimeout: 10_000,
    connectionTimeout: 30_000,
    // An embedded database takes its time to be made.
    pluginTimeout: 120_000,
    http: { maxHeaderSize: 8 * 1024, headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    clientErrorHandler: answerBrokenRequests(shape),
    frameworkErrors: (_error, _request, reply) => {
      sendRefusal(reply, new ProtocolError('malformed_request'), shape)
    },
  })
  keepOutcomes(server)
  handleErrors(server, { shape })
  hangUpWhenDone(server)
  server.setNotFoundHandler((_request, reply) => sendRefusal(reply, new ProtocolError('not_found'), shape))
  return server
}

/** Else a client that keeps its connection open after its last answer would hold up the end. */
function hangUpWhenDone(server: FastifyInstance): void {
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
