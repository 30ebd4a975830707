import { Redacted } from '../platform/redacted.ts'
import type { TokenResponse } from '../protocol/token-response.ts'

/** A bearer token with its life. Logged or turned into JSON it shows everything but the token. */
export interface AccessToken {
  /** The token itself, for the `Authorization` header. */
  readonly value: string
  readonly tokenType: 'Bearer'
  /** When its life ends by this machine's wall clock, counted from the moment it was asked for. */
  readonly expiresAt: Date
  /** The whole token response. */
  readonly response: TokenResponse
}

interface Contents {
  readonly response: TokenResponse
  readonly expiresAtMs: number
  readonly remainingMs: () => number
}

/** Out of sight, rather than in private members: test runners read the members of copies, where those throw. */
const contents = new WeakMap<AccessToken, Contents>()

class IssuedToken extends Redacted implements AccessToken {
  readonly tokenType = 'Bearer'

  get value(): string {
    return this.response?.accessToken
  }

  get expiresAt(): Date {
    return new Date(contents.get(this)?.expiresAtMs ?? Number.NaN)
  }

  get response(): TokenResponse {
    return contents.get(this)?.response as TokenResponse
  }

  toJSON(): object {
    return { value: '[redacted]', tokenType: this.tokenType, expiresAt: this.expiresAt }
  }
}

/**
 * @param expiresAtMs milliseconds since 1970
 * @param remainingMs life left by whichever clock went further
 */
export function createAccessToken(
  response: TokenResponse,
  expiresAtMs: number,
  remainingMs: () => number,
): AccessToken {
  // A source written by hand may leave these out.
  const shown: TokenResponse = { ...response, tokenType: 'Bearer', scope: response.scope ?? [] }
  // Readable as ever, but out of sight of whoever logs the response.
  for (const secret of ['accessToken', 'refreshToken'] as const) {
    if (response[secret] !== undefined) {
      Object.defineProperty(shown, secret, { get: () => response[secret], enumerable: false })
    }
  }
  const token = new IssuedToken()
  contents.set(token, { response: Object.freeze(shown), expiresAtMs, remainingMs })
  return token
}

/** Milliseconds of life left: by both clocks for a provider's token, by the wall clock for any other. */
export function remainingLifetimeMs(token: AccessToken): number {
  return contents.get(token)?.remainingMs() ?? token.expiresAt.getTime() - Date.now()
}
