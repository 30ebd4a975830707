import type { ResponseHeaders } from './headers.ts'

/** A request to an API whose sender proves that it holds a key. */
export interface ProvenRequest {
  readonly method: string
  readonly url: URL
  /** The bound token. */
  readonly accessToken: string
  /** The nonce of the response to which this is the repeated request. @default the last one from this origin */
  readonly nonce?: string | undefined
}

/** What a token endpoint returned. */
export interface TokenEndpointResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Binds access tokens to a key, such as `dpop()` of `@tokenwell/client-authentication` (RFC 9449). */
export interface TokenBinding {
  /** The `token_type` of bound tokens, and the scheme that they are sent with. */
  readonly tokenType: 'DPoP'
  /** Called for a provider with a shared store. @throws {TokenError} if no other process has the key */
  checkShareable(): void
  /** Identifies the key: part of the cache key. */
  fingerprint(): string | Promise<string>
  /**
   * Sends a token request with a proof, and once more if it lacked the server's nonce.
   *
   * @param send sends one request with these headers, and with a new assertion of the client
   */
  send(
    tokenEndpoint: URL,
    send: (headers: Readonly<Record<string, string>>) => Promise<TokenEndpointResponse>,
  ): Promise<TokenEndpointResponse>
  /** Creates the headers that prove possession of the key; called for each request to an API. */
  prove(request: ProvenRequest): Promise<Readonly<Record<string, string>>>
  /** Called with each response of an API, to remember its nonce; true if the request lacked it. */
  receive(url: URL, headers: ResponseHeaders): boolean
}
