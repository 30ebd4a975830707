import { TokenError } from '@tokenwell/core'

/** @param message names the option, what is wrong with it, and what to do */
export function configurationError(message: string): TokenError {
  return new TokenError({ kind: 'configuration', message })
}
