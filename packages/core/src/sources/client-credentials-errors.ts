import { errorCode } from '../platform/error-code.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'

/** Who requested a token where. */
export interface Identity {
  readonly client: string
  readonly clientId: string
  readonly tokenEndpoint: string
}

export function authenticationFailed(
  cause: unknown,
  { client, clientId, tokenEndpoint }: Identity,
): TokenError {
  return new TokenError({
    kind: 'unavailable',
    message: `The client authentication of "${client}" failed (${errorCode(cause)}).`,
    clientId,
    tokenEndpoint,
  })
}

/** A token that is bound to a key is useless without the key; a bearer token lacks the requested protection. */
export function unexpectedType(
  { tokenType }: TokenResponse,
  expected: TokenResponse['tokenType'],
  { clientId, tokenEndpoint }: Identity,
): TokenError {
  return new TokenError({
    kind: 'malformed',
    message: `The token endpoint ${tokenEndpoint} issued a ${tokenType} token instead of a ${expected} token.`,
    clientId,
    tokenEndpoint,
  })
}
