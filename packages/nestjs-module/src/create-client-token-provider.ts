import {
  clientCredentials,
  createTokenProvider,
  type ClientCredentialsOptions,
  type TokenProvider,
  type TokenProviderOptions,
  type TokenSource,
} from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'

/** The credentials of a client, or a token source, and the options of its token provider. */
export type TokenModuleOptions = TokenProviderOptions & {
  /** Whether a token is requested when the application starts, before the first call to `getToken`. @default false */
  readonly eager?: boolean | undefined
} & (ClientCredentialsOptions | { readonly source: TokenSource })

/** @throws {TokenError} of kind `configuration`, naming the option */
export function createClientTokenProvider(options: TokenModuleOptions, name?: string): TokenProvider {
  // The module requests the first token itself, when the application has been created.
  return createTokenProvider(sourceOf(options), { label: name, ...options })
}

function sourceOf(options: TokenModuleOptions): TokenSource {
  if (typeof options !== 'object' || options === null) {
    throw configurationError('Options are missing. Return them from useFactory or createTokenOptions.')
  }
  if (!('source' in options)) return clientCredentials(options)
  if ('clientId' in options) throw configurationError('source and clientId are mutually exclusive.')
  return options.source
}
