import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { hasTokenInQuery } from './credentials.ts'
import { requestedUrl } from './request-target.ts'

/** What a token's binding is checked against. Create a new object for each request. */
export interface VerifiedRequest {
  readonly method: string
  /**
   * The absolute URL; path and query are enough if the verifier has a `publicUrl`. Pass undefined if the request's
   * `Host` is not a host and a port alone, or its target is invalid: with a proof, it then gets a 400.
   */
  readonly url: string | undefined
  /** The `DPoP` header. */
  readonly dpop?: string | undefined
  /** The certificate of the connection (RFC 8705): DER, or PEM text. */
  readonly clientCertificate?: Uint8Array | string | undefined
  /** The framework's own request object: all checks of one object accept the same proof. @default this object */
  readonly incoming?: object | undefined
}

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
  readonly #certificate: ((request: Request) => Uint8Array | string | undefined) | undefined

  /** Node's own request, which all adapters of a framework share. */
  readonly incoming: Pick<NodeRequest, 'rawHeaders'>

  constructor(
    request: Request,
    certificate: ((request: Request) => Uint8Array | string | undefined) | undefined,
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
