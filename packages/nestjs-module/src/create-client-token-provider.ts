import { clientCredentials, type ClientCredentialsOptions, type TokenProvider } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'

/** The options of `clientCredentials`, or a provider, which the module closes when the application shuts down. */
export type TokenModuleOptions = {
  /** Whether a token is requested when the application starts, before the first call to `getToken`. @default false */
  readonly eager?: boolean | undefined
} & (ClientCredentialsOptions | { readonly tokens: TokenProvider })

/** @throws {TokenError} of kind `configuration`, naming the option */
export function createClientTokenProvider(options: TokenModuleOptions, name?: string): TokenProvider {
  if (typeof options !== 'object' || options === null) {
    throw configurationError('Options are missing. Return them from useFactory or createTokenOptions.')
  }
  if ('source' in options) {
    throw configurationError('source is not an option. Set tokens, such as createTokenProvider(source).')
  }
  // The module requests the first token itself, when the application has been created.
  if (!('tokens' in options)) return clientCredentials({ label: name, ...options })
  if ('clientId' in options) throw configurationError('tokens and clientId are mutually exclusive.')
  if (typeof options.tokens?.getToken === 'function') return options.tokens
  throw configurationError('tokens must be a token provider, such as clientCredentials({ … }).')
}
