import {
  clientCredentials,
  createTokenProvider,
  TokenError,
  type TokenProvider,
  type TokenSource,
} from '@tokenwell/core'
import type { TokenModuleOptions } from './token-module.definition.ts'

/** @throws {TokenError} of kind `configuration`, naming the option */
export function createClientTokens(options: TokenModuleOptions): TokenProvider {
  // The module asks early, once the application is known to start.
  return createTokenProvider(sourceOf(options), { ...options, eager: false })
}

function sourceOf(options: TokenModuleOptions): TokenSource {
  if (typeof options !== 'object' || options === null) {
    throw mistake('there are no options; useFactory, or createTokenOptions of a class, must return them')
  }
  if (!('source' in options)) return clientCredentials(options)
  if ('clientId' in options) throw mistake('source and clientId exclude each other; give one')
  if (typeof options.source?.requestToken === 'function') return options.source
  throw mistake(
    'source is no token source; give one such as clientCredentials makes, or clientId and clientSecret',
  )
}

function mistake(message: string): TokenError {
  return new TokenError({ kind: 'configuration', message })
}
