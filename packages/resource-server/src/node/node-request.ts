import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { requestedUrl } from '../binding/request-target.ts'
import type { VerifiedRequest } from '../binding/verified-request.ts'
import { hasTokenInQuery } from '../credentials/read-credentials.ts'
import type { TokenRequirements } from '../requirements/find-insufficient-scope.ts'

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
  if (hasTokenInQuery(url)) return [authorization, 'access_token']
  const all = valuesOf(rawHeaders, 'authorization')
  return all.length > 1 ? all : authorization
}

function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === name.length && rawHeaders[at]!.toLowerCase() === name) {
      values.push(rawHeaders[at + 1]!)
    }
  }
  return values
}

/** Read only for tokens that are bound to a key or certificate. */
export class NodeRequestFacts<Request extends NodeRequest> implements VerifiedRequest {
  readonly #request: Request
  readonly #certificate: RequireTokenOptions<Request>['clientCertificate']

  /** Node's own request, which all adapters of a framework share. */
  readonly incoming: Pick<NodeRequest, 'rawHeaders'>

  constructor(
    request: Request,
    certificate: RequireTokenOptions<Request>['clientCertificate'],
    incoming: Pick<NodeRequest, 'rawHeaders'> = request,
  ) {
    this.#request = request
    this.#certificate = certificate
    this.incoming = incoming
  }

  get method(): string {
    return this.#request.method ?? ''
  }

  get url(): string | undefined {
    const { protocol, headers, originalUrl, url = '' } = this.#request
    const { rawHeaders = [] } = this.incoming
    const scheme = protocol ?? (this.#tlsSocket.encrypted ? 'https' : 'http')
    // Node keeps the first of several.
    if (valuesOf(rawHeaders, 'host').length > 1) return undefined
    const host = headers[':authority'] ?? headers.host
    return requestedUrl(scheme, host?.toString(), originalUrl ?? url)
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
