import { TokenError, type TokenErrorKind } from '@tokenwell/core'

export function tokenError(kind: TokenErrorKind, message: string): TokenError {
  return new TokenError({ kind, message })
}
