import { remainingLifetimeMs, type AccessToken } from './access-token.ts'

/**
 * The response body with which a backend passes a token to its frontend (see {@link backendTokens}): a token
 * response whose `expires_in` is the remaining lifetime in whole seconds. Send it with `Cache-Control: no-store`.
 */
export function tokenResponseBody(token: AccessToken): {
  access_token: string
  token_type: AccessToken['tokenType']
  expires_in: number
} {
  const expiresIn = Math.max(0, Math.floor(remainingLifetimeMs(token) / 1000))
  return { access_token: token.value, token_type: token.tokenType, expires_in: expiresIn }
}
