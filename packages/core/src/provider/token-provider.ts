/// <reference lib="esnext.disposable" preserve="true" />
import type { AccessToken } from '../tokens/access-token.ts'
import { CachingTokenProvider } from './caching-token-provider.ts'
import type { TokenEventListener } from '../tokens/token-event.ts'
import { resolveSettings, type TokenProviderOptions } from '../acquire/provider-options.ts'
import { configurationError } from '../protocol/secure-url.ts'
import type { TokenSource } from '../tokens/token-source.ts'

/** What one call of {@link TokenProvider.getToken} asks for. */
export interface GetTokenOptions {
  /** Detaches this caller, with the signal's own reason; others go on waiting. */
  readonly signal?: AbortSignal | undefined
  /** Life that the token must have left, in milliseconds. Longer than a life: the freshest is returned. */
  readonly minimumValidityMs?: number | undefined
  /** A token asked for after this call, whatever is at hand. */
  readonly forceRefresh?: boolean | undefined
}

/** Gets tokens, keeps them, and renews them ahead of time. */
export interface TokenProvider {
  /** A token with life enough left. @throws {TokenError} when none can be had */
  getToken(options?: GetTokenOptions): Promise<AccessToken>
  /** The token at hand, while it is safe to use; asks for nothing. */
  peekToken(): AccessToken | undefined
  /** An API refused this token: the next caller gets a new one. Does nothing if a newer one is here already. */
  reject(token: AccessToken): void
  /** Tells `listener` of every event; returns what ends that. What a listener throws is dropped. */
  on(listener: TokenEventListener): () => void
  /** Cancels what is under way. Never closes a store it was given. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Keeps one token at hand: asks once however many call, renews ahead of time, and never hands out a
 * token about to expire.
 *
 * @example
 * const tokens = createTokenProvider(clientCredentials({ authUrl, clientId, clientSecret }))
 * const { value } = await tokens.getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for options that cannot be right
 */
export function createTokenProvider(source: TokenSource, options: TokenProviderOptions = {}): TokenProvider {
  if (typeof source?.requestToken !== 'function') {
    throw configurationError(
      'A token source is missing; give clientCredentials({ … }) or backendTokens({ … })',
    )
  }
  return new CachingTokenProvider(source, resolveSettings(options))
}
