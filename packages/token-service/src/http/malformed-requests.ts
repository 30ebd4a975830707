import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { errorBody } from '../oauth/error-body.ts'
import { ProtocolError, type ErrorReason, type Format } from '../oauth/protocol-error.ts'

const reasonsByCode: Record<string, ErrorReason> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_too_slow',
}

/**
 * Rejects what Node accepts: a second `Host`, which a proxy may read differently (RFC 9112, section 3.2), and bodies
 * that are compressed, which would be read as they are.
 */
export function rejectAmbiguousRequests(server: FastifyInstance): void {
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
export function respondToMalformedRequests(format: Format) {
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
