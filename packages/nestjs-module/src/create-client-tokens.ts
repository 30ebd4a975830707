import { clientCredentials, createTokenProvider, TokenError, type TokenProvider } from '@tokenwell/core'
import type { TokenModuleOptions } from './token-module.definition.ts'

/** @throws {TokenError} of kind `configuration`, naming the module, the client and the option */
export function createClientTokens(options: TokenModuleOptions, name: string | undefined): TokenProvider {
  try {
    if (typeof options !== 'object' || options === null) throw wrong('the options are missing')
    const source = 'source' in options ? options.source : clientCredentials(options)
    // The module asks early, once the application is known to start.
    return createTokenProvider(source, { ...options, eager: false })
  } catch (error) {
    if (!(error instanceof TokenError)) throw error
    throw wrong(`TokenModule${name === undefined ? '' : ` '${name}'`}: ${error.message}`)
  }
}

function wrong(message: string): TokenError {
  return new TokenError({ kind: 'configuration', message })
}
