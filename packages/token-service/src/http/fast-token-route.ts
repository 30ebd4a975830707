import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { tokenPath } from '../protocol/endpoint-paths.ts'
import type { OpenService } from '../service/open-service.ts'
import { clientAddress } from '../service/trust-proxy.ts'
import { callerOf } from './caller.ts'
import { errorResponse } from './error-handling.ts'
import { maxBodyBytes, parseForm } from './form.ts'
import type { RequestOutcome } from './request-outcome.ts'

const url = `${tokenPath}?grant_type=client_credentials`
const formType = /^application\/x-www-form-urlencoded(?:;|$)/i
const query = { grant_type: 'client_credentials' }

/**
 * Responds to token requests of the usual form without Fastify, which costs a third of the time; the routes behind it respond
 * to all others, and to all while `isBypassed`. A server behind a proxy needs a `publicUrl`: here, no forwarded host is read.
 */
export function fastTokenRoute(
  { options, issueToken, recordError, log, observers: ofEveryRoute, sandbox }: OpenService,
  routes: RequestListener,
  isBypassed: () => boolean,
): RequestListener {
  const { errors: shape, publicUrl, trustProxy } = options
  if (trustProxy !== false && publicUrl === undefined) return routes
  const addressOf = clientAddress(trustProxy)
  const observers = [...ofEveryRoute, ...(sandbox ? [sandbox.journal.record] : [])]

  async function respond(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const startedAt = performance.now()
    const { socket, headers } = request
    const ip = addressOf(request)
    const { host = '', authorization } = headers
    const caller = callerOf({ ip, socket, host, protocol: 'http' }, tokenPath, publicUrl)
    let outcome: RequestOutcome
    let status = 200
    let more: Record<string, string> = {}
    let content: object
    try {
      const issued = await issueToken({ query, form: parseForm(body), authorization, caller })
      outcome = { clientId: issued.clientId }
      content = issued.response
    } catch (error) {
      const recorded = recordError(error, { path: tokenPath, ip, log })
      const rejected = errorResponse(recorded, shape)
      outcome = { reason: recorded.reason, clientId: recorded.details.clientId }
      status = rejected.status
      more = rejected.headers
      content = rejected.body
    }
    const text = JSON.stringify(content)
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'content-length': Buffer.byteLength(text),
      ...more,
    })
    if (observers.length === 0) return void response.end(text)
    response.end(text, () => {
      const observed = { method: 'POST', path: tokenPath, status, address: ip, ...outcome }
      const durationMs = performance.now() - startedAt
      for (const observe of observers) observe({ ...observed, durationMs })
    })
  }

  return (request, response) => {
    if (isBypassed() || !isUsual(request)) return routes(request, response)
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => void respond(request, response, body))
  }
}

function isUsual(request: IncomingMessage): boolean {
  const { method, headers } = request
  const { 'content-type': type, 'content-length': length, origin } = headers
  return (
    method === 'POST' &&
    request.url === url &&
    // A page of another origin needs CORS.
    origin === undefined &&
    formType.test(type ?? '') &&
    // A chunked body has no length.
    Number(length) <= maxBodyBytes &&
    headers.expect === undefined
  )
}
