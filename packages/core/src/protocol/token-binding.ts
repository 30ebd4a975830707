import type { ResponseHeaders } from './headers.ts'

/** A request whose sender proves that it holds a key. */
export interface ProvenRequest {
  readonly method: string
  readonly url: URL
  /** The bound token; absent at the token endpoint. */
  readonly accessToken?: string | undefined
}

/** Binds access tokens to a key, such as `dpop()` of `@tokenwell/client-authentication` (RFC 9449). */
export interface TokenBinding {
  /** The `token_type` of bound tokens, and the scheme that they are sent with. */
  readonly tokenType: 'DPoP'
  /** False if no other process has the key: its tokens must not be in a shared store. */
  readonly isShareable: boolean
  /** Identifies the key: part of the cache key. */
  fingerprint(): string | Promise<string>
  /** Creates the headers that prove possession of the key; called for each request that is sent. */
  prove(request: ProvenRequest): Promise<Readonly<Record<string, string>>>
  /**
   * Called with each response to such a request, to remember the server's nonce.
   *
   * @param oauthError the error code of a token endpoint; an API sends it in `WWW-Authenticate`
   * @returns true if the request failed for want of the nonce that is known now
   */
  receive(url: URL, headers: ResponseHeaders, oauthError?: string): boolean
  /** Explains why a token endpoint rejected the proof: a sentence for the error's message. */
  explain?(headers: ResponseHeaders): string | undefined
}
