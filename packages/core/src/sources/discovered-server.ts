import type { FetchLike } from './send-token-request.ts'

/** The metadata of an authorization server (RFC 8414, section 2). */
export interface DiscoveredServer {
  readonly issuer: string
  /** The token endpoint; with a client certificate, its alias if there is one (RFC 8705, section 5). */
  tokenEndpoint(usesCertificate: boolean): URL
  /** How a client secret is sent. @throws {TokenError} if the server accepts none */
  secretMethod(): 'client_secret_post' | 'client_secret_basic'
}

/** Finds an authorization server by its issuer; a result of `discover`. */
export interface Discovery {
  readonly issuer: string | (() => string | Promise<string>)
  /** From a cache, or by one request for all callers. @throws {TokenError} that names the URLs that were tried */
  find(issuer: string, fetch?: FetchLike, allowInsecureRequests?: boolean): Promise<DiscoveredServer>
}
