import { remainingLifetimeMs, type AccessToken } from './access-token.ts'

/**
 * What a backend answers its own frontend (see {@link backendTokens}): a token response whose
 * `expires_in` is the life still left, in seconds. Send it with `Cache-Control: no-store`.
 */
export function tokenResponseBody(token: AccessToken): {
  access_token: string
  token_type: 'Bearer'
  expires_in: number
} {
  const leftMs = Math.max(1, remainingLifetimeMs(token))
  // Whole seconds, rounded down; a fraction where that would be zero, which reads as "unknown".
  const expiresIn = Math.floor(leftMs / 1000) || leftMs / 1000
  return { access_token: token.value, token_type: 'Bearer', expires_in: expiresIn }
}
