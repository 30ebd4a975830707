import {
  clientCredentials,
  configurationError,
  createTokenProvider,
  type TokenProvider,
  type TokenSource,
} from '@tokenwell/core'
import type { TokenModuleOptions } from './token-module.definition.ts'

/** @throws {TokenError} of kind `configuration`, naming the option */
export function createClientTokenProvider(options: TokenModuleOptions, name?: string): TokenProvider {
  // The module requests the first token itself, when the application has been created.
  return createTokenProvider(sourceOf(options), Object.assign({ label: name }, options, { eager: false }))
}

function sourceOf(options: TokenModuleOptions): TokenSource {
  if (typeof options !== 'object' || options === null) {
    throw configurationError('the options are missing; return them from useFactory or createTokenOptions')
  }
  if (!('source' in options)) return clientCredentials(options)
  if ('clientId' in options) throw configurationError('source and clientId are mutually exclusive')
  if (typeof options.source?.requestToken === 'function') return options.source
  throw configurationError(
    'source is not a token source; pass the result of clientCredentials(), or clientId and clientSecret',
  )
}
