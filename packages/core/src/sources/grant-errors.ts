import type { RequestIdentity } from '../protocol/error-response.ts'
import { TokenError } from '../protocol/token-error.ts'
import type { TokenResponse } from '../protocol/token-response.ts'

/** Who requested a token where. */
export interface Identity extends RequestIdentity {
  readonly client: string
  readonly tokenEndpoint: string
}

export function authenticationFailed(code: string, identity: Identity): TokenError {
  const message = `The client authentication of "${identity.client}" failed (${code}).`
  return new TokenError({ ...identity, kind: 'unavailable', message })
}

/** A token that is bound to a key is useless without the key; a bearer token lacks the requested protection. */
export function unexpectedType(
  { tokenType }: TokenResponse,
  expected: TokenResponse['tokenType'],
  identity: Identity,
): TokenError {
  const advice =
    expected === 'DPoP' ? 'Omit binding if the endpoint does not support DPoP.' : 'Set binding: dpop().'
  const message = `The token endpoint ${identity.tokenEndpoint} issued a ${tokenType} token instead of a ${expected} token. ${advice}`
  return new TokenError({ ...identity, kind: 'malformed', message })
}
