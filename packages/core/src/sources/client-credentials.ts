import type { TokenSource } from './token-source.ts'
import { GrantSource } from './grant-source.ts'
import type { Resolvable, TokenEndpointOptions } from './token-endpoint-options.ts'

/** How an application authenticates to a token endpoint. */
export interface ClientCredentialsOptions extends TokenEndpointOptions {
  /** Client ID, also called consumer key. */
  readonly clientId: Resolvable<string>
}

/**
 * Requests tokens with the client credentials grant (RFC 6749, section 4.4).
 *
 * @example
 * const tokens = createTokenProvider(clientCredentials({ authUrl, clientId, clientSecret }))
 * const { value } = await tokens.getToken()
 *
 * @throws {TokenError} of kind `configuration`, naming the option, for invalid options
 */
export function clientCredentials(options: ClientCredentialsOptions): TokenSource {
  return new GrantSource({ ...options })
}
