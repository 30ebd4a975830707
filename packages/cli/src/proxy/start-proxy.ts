import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  request as requestOverHttp,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { request as requestOverHttps } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib'
import { isTokenError, type TokenProvider } from '@tokenwell/core'
import { createTokenAttacher, type TokenAttacher } from '@tokenwell/core/adapter'
import { errorCode } from '@tokenwell/core/protocol'
import { UsageError } from '../errors.ts'
import { forwardedFields, headerFields, locationThroughProxy, pathBelow } from './forwarding-rules.ts'

export interface ProxyOptions {
  /** Everything is sent below this URL, and nowhere else. */
  readonly target: URL
  readonly tokens: TokenProvider
  /** 0 selects a free port. */
  readonly port: number
  /** The secret part of the URL. */
  readonly path: string
  readonly allowInsecureRequests?: boolean | undefined
}

export interface RunningProxy {
  /** Corresponds to the target; its secret path is known only to those who read it. */
  readonly url: string
  close(): Promise<void>
}

interface Route {
  readonly attacher: TokenAttacher
  readonly target: URL
  /** The path that corresponds to the target. */
  readonly base: string
}

/** A body up to this size can be sent again with a new token. */
const maxRepeatableBytes = 1024 ** 2
/** Replaced, addressed to this proxy, or with its secret path. */
const ownFields = new Set(['authorization', 'expect', 'host', 'referer'])
/** The start of an error response, which may hold its reason. */
const maxPeekBytes = 16 * 1024
/** In both directions: more than servers and clients usually accept. A lenient parser would let others decide where a message ends. */
const parser = { maxHeaderSize: 64 * 1024, insecureHTTPParser: false }

/** Starts a proxy on loopback that attaches tokens to the requests of local programs. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { target, tokens, port, path, allowInsecureRequests } = options
  const base = `/${path}`
  const attacher = createTokenAttacher(tokens, { allowedOrigins: [target.origin], allowInsecureRequests })
  const server = createServer(parser, (incoming, outgoing) => {
    // Without a listener, an error of a connection would end the process.
    outgoing.on('error', () => {})
    forward(incoming, outgoing, { attacher, target, base }).catch((error: unknown) => {
      respondToFailure(outgoing, error, target)
    })
  })
  // Uploads and event streams may take as long as they need.
  server.requestTimeout = 0
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`Port ${port} on 127.0.0.1 cannot be used (${error.code}).`)
  })
  // A connection that cannot be accepted, because there are too many, does not end the others.
  server.on('error', () => {})
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** A request that is not forwarded. */
class Rejection extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

async function forward(incoming: IncomingMessage, outgoing: ServerResponse, route: Route): Promise<void> {
  const path = checkRequest(incoming, route)
  const leaving = new AbortController()
  outgoing.once('close', () => {
    leaving.abort()
    // The rest of an upload that the API did not wait for.
    incoming.unpipe().resume()
  })
  const response = await sendWithToken(incoming, path, route, leaving.signal)
  const { statusCode = 0, rawHeaders } = response
  const fields = forwardedFields(rawHeaders).map(([name, value]) => [
    name,
    name === 'location' ? locationThroughProxy(value, path, route) : value,
  ])
  const length = isChunked(response) || statusCode === 204 ? undefined : response.headers['content-length']
  if (length !== undefined) fields.push(['content-length', length])
  // Without the reason phrase, which clients ignore and writeHead restricts to Latin-1.
  outgoing.writeHead(statusCode, fields.flat())
  // The start of an event stream is not held back. `flushHeaders` would encode the bytes of the header as UTF-8.
  outgoing.write(Buffer.alloc(0))
  await pipeline(response, outgoing)
}

/**
 * @returns the path and query to send it to
 * @throws {Rejection} of a request without the secret, and of one to another host name: a page whose name suddenly
 *   resolves to this machine has the name in `Host` (DNS rebinding)
 */
function checkRequest({ url = '', method, rawHeaders, socket }: IncomingMessage, route: Route): string {
  const { target, base } = route
  const hosts = headerFields(rawHeaders).flatMap(([name, value]) => (name === 'host' ? [value] : []))
  if (hosts.length > 1) throw new Rejection(400, 'The request has two Host headers (RFC 9112, section 3.2).')
  const isLocal = ['127.0.0.1', 'localhost'].some((name) => hosts[0] === `${name}:${socket.localPort}`)
  const isKnown = isEqual(url.slice(0, base.length), base) && /^(?:[/?#]|$)/.test(url.slice(base.length))
  const path = isLocal && isKnown ? pathBelow(target, url.slice(base.length)) : undefined
  if (path === undefined) throw new Rejection(404, 'There is nothing here.')
  if (method === 'TRACE')
    throw new Rejection(501, 'TRACE is not supported: the API would send the token back.')
  return path
}

/** Takes the same time for every wrong secret. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/** @throws {Rejection} of another transfer coding, which the parser would leave in the body */
function isChunked({ headers, method }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding']
  if (coding === undefined || /^chunked$/i.test(coding)) return coding !== undefined
  throw new Rejection(method ? 501 : 502, 'The only supported Transfer-Encoding is chunked.')
}

async function sendWithToken(
  incoming: IncomingMessage,
  path: string,
  { attacher, target }: Route,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { method = 'GET', rawHeaders } = incoming
  const length = isChunked(incoming) ? undefined : (incoming.headers['content-length'] ?? '0')
  const repeatable = length !== undefined && Number(length) <= maxRepeatableBytes
  const body = repeatable ? await buffer(incoming) : undefined
  const request = { method, url: target.origin + path, repeatable }

  function send(tokenHeaders: Readonly<Record<string, string>> = {}): Promise<IncomingMessage> {
    const open = target.protocol === 'https:' ? requestOverHttps : requestOverHttp
    const outgoing = open(target, { method, path, signal, ...parser })
    for (const [name, value] of forwardedFields(rawHeaders))
      if (!ownFields.has(name)) outgoing.appendHeader(name, value)
    for (const [name, value] of Object.entries(tokenHeaders)) outgoing.setHeader(name, value)
    if (length === undefined) outgoing.setHeader('transfer-encoding', 'chunked')
    else if (length !== '0' || /^(?:PATCH|POST|PUT)$/.test(method))
      outgoing.setHeader('content-length', length)
    if (body) outgoing.end(body)
    else incoming.pipe(outgoing)
    return new Promise((resolve, reject) => {
      // The listener stays: after the response, an error concerns the rest of an upload.
      outgoing.once('response', resolve).on('error', reject)
      // Also instead of a response, after an upgrade that nobody requested.
      outgoing.once('close', () => reject(new Rejection(502, `${target.host} closed the connection.`)))
    })
  }

  return attacher.send(request, signal, async (attachment) => {
    const response = await send(attachment?.headers)
    // Until it is read, which adds a listener that reports the error.
    response.on('error', () => {})
    return {
      result: response,
      status: response.statusCode!,
      headers: response.headers as Readonly<Record<string, string>>,
      readBody: () => readStart(response),
      discard: () => response.destroy(),
    }
  })
}

/** The start of a response as text; the response stays unread. Waits at most a second. */
async function readStart(response: IncomingMessage): Promise<string | undefined> {
  const timeout = AbortSignal.timeout(1000)
  const parts: Buffer[] = []
  for (let length = 0; length < maxPeekBytes;) {
    // `readable` means that there is more than before: without reading it first, this would not end.
    const part = response.read() as Buffer | null
    length += part?.length ?? 0
    if (part) parts.push(part)
    if (response.complete) break
    const more = part ?? (await once(response, 'readable', { signal: timeout }).catch(() => undefined))
    if (more === undefined) break
  }
  const start = Buffer.concat(parts)
  if (start.length > 0) response.unshift(start)
  return decode(start, response.headers['content-encoding'])?.toString()
}

/** Undefined for other codings: the status and the header then decide. */
function decode(start: Buffer, coding = 'identity'): Buffer | undefined {
  const maxOutputLength = 16 * maxPeekBytes
  try {
    switch (coding) {
      case 'identity':
        return start
      case 'gzip':
        return gunzipSync(start, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH })
      case 'br':
        return brotliDecompressSync(start, {
          maxOutputLength,
          finishFlush: constants.BROTLI_OPERATION_FLUSH,
        })
      default:
        return undefined
    }
  } catch {
    return undefined
  }
}

function respondToFailure(outgoing: ServerResponse, error: unknown, target: URL): void {
  // The client has left, or the response cannot be completed: it must not look complete.
  if (outgoing.headersSent || outgoing.destroyed) return void outgoing.destroy()
  if (error instanceof Rejection) return respond(outgoing, error.status, error.message)
  if (!isTokenError(error)) {
    const code = errorCode(error)
    const problem = /^(?:HPE|ERR)_/.test(code) ? 'sent an invalid response' : 'cannot be reached'
    return respond(outgoing, 502, `${target.host} ${problem} (${code}).`)
  }
  const mayRetry = error.kind === 'unavailable' || error.kind === 'throttled'
  if (error.retryAfterMs) outgoing.setHeader('retry-after', Math.ceil(error.retryAfterMs / 1000))
  respond(outgoing, mayRetry ? 503 : 502, error.message)
}

function respond(outgoing: ServerResponse, status: number, message: string): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  outgoing.end(JSON.stringify({ error: 'proxy', error_description: message }))
}
