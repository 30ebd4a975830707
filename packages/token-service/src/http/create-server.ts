import { fastify, type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify'
import { maxParameterLength } from '../runtime/bounds.ts'
import { type ErrorReason, type Format, ProtocolError } from '../oauth/protocol-error.ts'
import { handleErrors, sendError } from './error-handling.ts'
import { maxBodyBytes } from './oauth-endpoints.ts'
import { decorateWithOutcome } from './request-outcome.ts'
import { trusts, type TrustProxy } from './trusted-proxies.ts'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorBody } from '../oauth/error-body.ts'

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
    routerOptions: { maxParamLength: maxParameterLength },
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

const reasonsByCode: Record<string, ErrorReason> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_too_slow',
}

/**
 * Rejects what Node accepts: a second `Host`, which a proxy may read differently (RFC 9112, section 3.2), and bodies
 * that are compressed, which would be read as they are.
 */
function rejectAmbiguousRequests(server: FastifyInstance): void {
  server.addHook('onRequest', ({ raw, headers }, _reply, done) => {
    let hosts = 0
    for (let name = 0; name < raw.rawHeaders.length; name += 2)
      if (raw.rawHeaders[name]!.toLowerCase() === 'host') hosts += 1
    if (hosts > 1) return done(new ProtocolError('malformed_request'))
    const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
    if (encoding !== 'identity' && encoding !== '')
      return done(new ProtocolError('unsupported_content_encoding', { acceptEncoding: 'identity' }))
    done()
  })
}

/** Responds to what is not a valid HTTP request, and closes the connection. */
function respondToMalformedRequests(format: Format) {
  return (error: Error & { code?: string }, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const protocolError = new ProtocolError(reasonsByCode[error.code ?? ''] ?? 'malformed_request')
    const { status, body } = errorBody(protocolError, format)
    const text = JSON.stringify(body)
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(text)}`,
      'Cache-Control: no-store',
      'Connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${text}`, () => socket.destroy())
  }
}
