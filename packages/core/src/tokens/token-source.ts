import type { TokenResponse } from '../protocol/token-response.ts'

/** Where new tokens come from: {@link clientCredentials}, {@link backendTokens}, or one of your own. */
export interface TokenSource {
  /**
   * Names what is asked for: the same key means the same token will do. A digest where it depends on a
   * secret. Asked only when a store is shared.
   */
  cacheKey(): Promise<string>
  /**
   * Makes one token request. Throws a {@link TokenError}, whose kind decides on retries and holds; any
   * other error counts as `unavailable`.
   */
  requestToken(context: { readonly signal: AbortSignal }): Promise<TokenResponse>
}
