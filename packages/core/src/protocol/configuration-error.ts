import { TokenError } from './token-error.ts'

/**
 * The error for invalid options; for authors of adapters and stores.
 *
 * @param message names the option, what is wrong with it, and how to fix it
 */
export function configurationError(message: string): TokenError {
  return new TokenError({ kind: 'configuration', message })
}
