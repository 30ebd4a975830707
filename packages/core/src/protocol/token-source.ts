import type { TokenBinding } from './token-binding.ts'
import type { TokenResponse } from './token-response.ts'

/** The context of one token request. */
export interface TokenRequestContext {
  readonly signal: AbortSignal
  /** The provider's `label`, for error messages. */
  readonly label?: string | undefined
  /** The value of the token that this request replaces, if an API has rejected it. */
  readonly rejectedToken?: string | undefined
  /** For sources that learn from an API where its tokens come from; undefined unless an API has rejected the last token. */
  readonly challenge?: ApiChallenge | undefined
}

/** What an API responded to a request whose token it rejected. For authors of attachers and of sources. */
export interface ApiChallenge {
  /** The URL of the request. */
  readonly url: string
  /** The `WWW-Authenticate` header of the response; empty without one. */
  readonly header: string
}

/** A request of the application that can be sent without a token, once. For authors of attachers and of sources. */
export interface FirstRequest<Result> {
  readonly url: string
  readonly signal?: AbortSignal | undefined
  /**
   * Sends it without a token. `challenge` is the `WWW-Authenticate` header of a response that rejects it for this reason, and
   * undefined for any other response, which the application gets.
   */
  send(): Promise<{ readonly challenge: string | undefined; readonly result: Result }>
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
   * For sources that learn from an API where its tokens come from: sends a request of the application without a token, to see
   * the challenge. Undefined if nothing has to be learned; otherwise resolves to what the application gets, or to undefined
   * if the request has to be sent with a token.
   */
  sendFirst?<Result>(request: FirstRequest<Result>): Promise<Result | undefined> | undefined
  /**
   * The source of tokens that have these scopes as well (step-up), with a cache key of its own; this source if its tokens have
   * them already, undefined if the application does not allow them.
   */
  stepUp?(scopes: readonly string[]): TokenSource | undefined
}
