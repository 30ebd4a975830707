import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createTokenFetch, isTokenError, type TokenFetch, type TokenProvider } from '@tokenwell/core'
import { errorCode } from '@tokenwell/core/protocol'
import { UsageError } from '../command-errors.ts'

export interface ProxyOptions {
  /** Everything is sent below this URL, and nowhere else. */
  readonly target: URL
  readonly tokens: TokenProvider
  /** 0 selects a free port. */
  readonly port: number
  readonly allowInsecureRequests?: boolean | undefined
}

export interface RunningProxy {
  /** Corresponds to the target; its random path is known only to those who read it. */
  readonly url: string
  close(): Promise<void>
}

/** A body up to this size can be sent again with a new token. */
const maxRepeatableBytes = 1024 ** 2
/** They concern one connection (RFC 9110, section 7.6.1), name this proxy, or are replaced. */
const ownHeaders = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'referer',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Starts a proxy on loopback that attaches tokens to the requests of local programs. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { target, tokens, port, allowInsecureRequests } = options
  const secret = randomBytes(24).toString('base64url')
  const send = createTokenFetch(tokens, { allowedOrigins: [target.origin], allowInsecureRequests })
  const server = createServer((request, response) => {
    const upstream = upstreamUrl(request, secret, target)
    if (upstream === undefined) return respond(response, 404, 'There is nothing here.')
    forward(request, response, upstream, { send, target, base }).catch((error: unknown) => {
      respondToFailure(response, error, target)
    })
  })
  // Uploads and event streams may take as long as they need.
  server.requestTimeout = 0
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`Port ${port} on 127.0.0.1 cannot be used (${error.code}).`)
  })
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const base = `/${secret}`
  return {
    url: `http://${host}${base}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/**
 * The URL to send a request to. Undefined for a request without the secret, and for one to another host name: a page
 * whose name suddenly resolves to this machine has the name in `Host` (DNS rebinding).
 */
function upstreamUrl(
  { url = '', headers, socket }: IncomingMessage,
  secret: string,
  target: URL,
): URL | undefined {
  const [name, port] = (headers.host ?? '').split(':')
  if (port !== String(socket.localPort) || (name !== '127.0.0.1' && name !== 'localhost')) return undefined
  const [, given = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(url) ?? []
  if (!isEqual(given, secret)) return undefined
  const prefix = target.pathname.replace(/\/$/, '')
  const upstream = new URL(`${target.origin}${prefix}${rest}`)
  const isBelow = upstream.pathname === prefix || upstream.pathname.startsWith(`${prefix}/`)
  return upstream.origin === target.origin && isBelow ? upstream : undefined
}

/** Takes the same time for every wrong secret. */
function isEqual(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

interface Route {
  readonly send: TokenFetch
  readonly target: URL
  /** The path that corresponds to the target. */
  readonly base: string
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  route: Route,
): Promise<void> {
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  const { method = 'GET' } = request
  const upstream = await route.send(url, {
    method,
    headers: forwardedHeaders(request.headers),
    body: await bodyOf(request),
    redirect: 'manual',
    cache: 'no-store',
    signal: leaving.signal,
    duplex: 'half',
  } as RequestInit)
  response.writeHead(upstream.status, upstream.statusText, responseHeaders(upstream, url, route))
  // The start of an event stream is not held back.
  response.flushHeaders()
  if (upstream.body === null) response.end()
  else await pipeline(Readable.fromWeb(upstream.body as never), response)
}

function forwardedHeaders(received: IncomingHttpHeaders): Headers {
  const perConnection = new Set((received.connection ?? '').toLowerCase().split(/\s*,\s*/))
  const headers = new Headers()
  for (const [name, values] of Object.entries(received)) {
    if (values === undefined || ownHeaders.has(name) || perConnection.has(name)) continue
    for (const value of [values].flat()) headers.append(name, value)
  }
  return headers
}

/** A short body of known length as bytes; any other one as a stream. */
async function bodyOf(
  request: IncomingMessage,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream | undefined> {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (encoding === undefined && !Number(length)) return undefined
  if (encoding !== undefined || Number(length) > maxRepeatableBytes)
    return Readable.toWeb(request) as ReadableStream
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return new Uint8Array(Buffer.concat(parts))
}

/** `fetch` has decoded the body. A redirect within the target leads through this proxy again. */
function responseHeaders({ headers }: Response, url: URL, { target, base }: Route): [string, string][] {
  const decoded = headers.has('content-encoding')
  const left = [...headers].filter(
    ([name]) =>
      !/^(?:connection|keep-alive|transfer-encoding|content-encoding)$/.test(name) &&
      !(decoded && name === 'content-length'),
  )
  const prefix = target.href.replace(/\/$/, '')
  return left.map(([name, value]) => {
    if (name !== 'location' || !URL.canParse(value, url)) return [name, value]
    const { href } = new URL(value, url)
    return [name, href === prefix || href.startsWith(`${prefix}/`) ? base + href.slice(prefix.length) : href]
  })
}

function respondToFailure(response: ServerResponse, error: unknown, target: URL): void {
  // The client has left, or the response cannot be completed: it must not look complete.
  if (response.headersSent || response.destroyed) return void response.destroy()
  if (!isTokenError(error))
    return respond(response, 502, `${target.host} cannot be reached (${errorCode(error)}).`)
  const mayRetry = error.kind === 'unavailable' || error.kind === 'throttled'
  if (error.retryAfterMs) response.setHeader('retry-after', Math.ceil(error.retryAfterMs / 1000))
  respond(response, mayRetry ? 503 : 502, error.message)
}

function respond(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify({ error: 'proxy', error_description: message }))
}
