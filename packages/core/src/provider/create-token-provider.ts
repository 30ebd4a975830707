import { resolveSettings, type TokenProviderOptions } from '../acquire/provider-options.ts'
import { configurationError } from '../protocol/token-error.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import { CachingTokenProvider } from './caching-token-provider.ts'
import type { AttachableTokenProvider } from './attachable-token-provider.ts'

/**
 * Keeps a valid token ready: shares one request between all callers, refreshes the token ahead of time, and
 * never returns a token that is about to expire.
 *
 * @example
 * const tokens = createTokenProvider(clientCredentials({ authUrl, clientId, clientSecret }))
 * const { value } = await tokens.getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function createTokenProvider(
  source: TokenSource,
  options: TokenProviderOptions = {},
): AttachableTokenProvider {
  if (typeof source?.requestToken !== 'function') {
    throw configurationError(
      'A token source is missing. Pass clientCredentials({ … }) or backendTokens({ … }).',
    )
  }
  return new CachingTokenProvider(source, resolveSettings(options))
}
