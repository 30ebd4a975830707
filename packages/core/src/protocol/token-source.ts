import type { TokenBinding } from './token-binding.ts'
import type { TokenResponse } from './token-response.ts'

/** The context of one token request. */
export interface TokenRequestContext {
  readonly signal: AbortSignal
  /** The provider's `label`, for error messages. */
  readonly label?: string | undefined
  /** The value of the token that this request replaces, if an API has rejected it. */
  readonly rejectedToken?: string | undefined
  /** For sources that learn from an API where its tokens come from; undefined if no request to an API waits for the token. */
  readonly challenge?: ApiChallenge | undefined
}

/** What an API responds to a request without a valid token. For authors of attachers and of sources. */
export interface ApiChallenge {
  /** The URL of the request. */
  readonly url: string
  /**
   * The `WWW-Authenticate` header of the response, or a function that first sends the request without a token, once. It
   * returns undefined if the response does not reject the request.
   */
  readonly header: string | (() => Promise<string | undefined>)
}

/** Where new tokens come from. For authors: `createTokenProvider` makes it a provider. */
export interface TokenSource {
  /** Names the client in errors and events of a provider without a `label`; usually the client ID. */
  readonly label?: string | undefined
  /** URL of the API that the tokens are for: they are sent to it and to what is below it. @default wherever they are allowed */
  readonly resource?: string | undefined
  /** Binds the source's tokens to a key. */
  readonly binding?: TokenBinding | undefined
  /**
   * Identifies the token: sources with the same key can share it. Must be a digest if it depends on a secret.
   * Called only with a shared store.
   */
  cacheKey(): Promise<string>
  /**
   * Makes one token request. Throws a {@link TokenError}, whose kind determines retries and cooldowns; any
   * other error counts as `unavailable`. A client that attaches this source's own tokens would wait for this request: send
   * it with another one.
   */
  requestToken(context: TokenRequestContext): Promise<TokenResponse>
  /** Revokes a token at its server (RFC 7009). @throws {TokenError} if that fails @default the source cannot */
  revokeToken?(token: string, context: TokenRequestContext): Promise<void>
  /**
   * Whether another request may succeed although the last one failed, because the credentials have changed since: the
   * cooldown then ends. Called at most once a second during a cooldown. @default false
   */
  credentialsChanged?(): Promise<boolean>
  /**
   * The source of tokens that have these scopes as well, with a cache key of its own; this source if its tokens have them
   * already, undefined if the application does not allow them.
   */
  widen?(scopes: readonly string[]): TokenSource | undefined
}
