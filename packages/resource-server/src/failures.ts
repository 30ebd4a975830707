import { TokenError, type TokenErrorKind } from '@tokenwell/core'

export function tokenError(kind: TokenErrorKind, message: string): TokenError {
  return new TokenError({ kind, message })
}

/** The code or name of an unknown error, such as `ECONNREFUSED`; its message may contain a secret. */
export function codeOf(error: unknown): string {
  const { code, name, cause } = Object(error) as { code?: unknown; name?: unknown; cause?: unknown }
  const { code: causeCode } = Object(cause) as { code?: unknown }
  return [causeCode, code, name].find((each) => typeof each === 'string' && /^\w+$/.test(each)) as string
}
