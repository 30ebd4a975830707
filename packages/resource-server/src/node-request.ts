import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { VerifiedRequest } from './binding/verified-request.ts'
import type { TokenRequirements } from './token-requirements.ts'

/** What requests of Node, Express, Connect and Fastify have in common. */
export interface NodeRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  /** The URL before a router removed its prefix. */
  readonly originalUrl?: string | undefined
  /** According to the framework's proxy settings. */
  readonly protocol?: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders?: readonly string[] | undefined
  readonly socket: Socket
}

/** What a request must have to be accepted, and where its client certificate is. */
export interface RequireTokenOptions<Request> extends TokenRequirements {
  /** Returns DER or PEM, for example from a header that a trusted proxy sets. @default the certificate of the connection, in Node */
  readonly clientCertificate?: ((request: Request) => Uint8Array | string | undefined) | undefined
}

/** All credentials of a request: Node itself keeps only the first of two `Authorization` headers. */
export function credentialsOf({
  headers: { authorization },
  url = '',
  rawHeaders = [],
}: Omit<NodeRequest, 'socket'>): string | readonly string[] | undefined {
  if (authorization === undefined) return undefined
  if (/[?&]access_token=/.test(url)) return [authorization, 'access_token']
  const all: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === 13 && rawHeaders[at]!.toLowerCase() === 'authorization') {
      all.push(rawHeaders[at + 1]!)
    }
  }
  return all.length > 1 ? all : authorization
}

/** Read only for tokens that are bound to a key or certificate. */
export class NodeRequestFacts<Request extends NodeRequest> implements VerifiedRequest {
  readonly #request: Request
  readonly #certificate: RequireTokenOptions<Request>['clientCertificate']

  /** Node's own request, which all adapters of a framework share. */
  readonly incoming: object

  constructor(
    request: Request,
    certificate: RequireTokenOptions<Request>['clientCertificate'],
    incoming: object = request,
  ) {
    this.#request = request
    this.#certificate = certificate
    this.incoming = incoming
  }

  get method(): string {
    return this.#request.method ?? ''
  }

  get url(): string {
    const { protocol, headers, originalUrl, url } = this.#request
    const scheme = protocol ?? (this.#tlsSocket.encrypted ? 'https' : 'http')
    return `${scheme}://${String(headers[':authority'] ?? headers.host)}${originalUrl ?? url}`
  }

  get dpop(): string | undefined {
    return this.#request.headers['dpop'] as string | undefined
  }

  get clientCertificate(): Uint8Array | string | undefined {
    if (this.#certificate) return this.#certificate(this.#request)
    return this.#tlsSocket.getPeerCertificate?.()?.raw
  }

  get #tlsSocket(): Partial<TLSSocket> {
    return this.#request.socket as TLSSocket
  }
}
