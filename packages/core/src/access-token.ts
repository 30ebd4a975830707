import { Redacted } from './redacted.ts'
import type { TokenResponse } from './token-response.ts'

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

class IssuedToken extends Redacted implements AccessToken {
  readonly tokenType = 'Bearer'
  readonly #response: TokenResponse
  readonly #expiresAtMs: number

  constructor(response: TokenResponse, expiresAtMs: number) {
    super()
    this.#response = response
    this.#expiresAtMs = expiresAtMs
  }

  get value(): string {
    return this.#response.accessToken
  }

  get expiresAt(): Date {
    return new Date(this.#expiresAtMs)
  }

  get response(): TokenResponse {
    return this.#response
  }

  toJSON(): object {
    return { value: '[redacted]', tokenType: this.tokenType, expiresAt: this.expiresAt }
  }
}

/** @param expiresAtMs milliseconds since 1970 */
export function createAccessToken(response: TokenResponse, expiresAtMs: number): AccessToken {
  // Readable as ever, but out of sight of whoever logs the response.
  const shown = { ...response }
  for (const secret of ['accessToken', 'refreshToken'] as const) {
    if (shown[secret] !== undefined) Object.defineProperty(shown, secret, { enumerable: false })
  }
  return new IssuedToken(Object.freeze(shown), expiresAtMs)
}
