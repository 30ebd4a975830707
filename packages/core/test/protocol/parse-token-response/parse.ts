import { expect } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { parseTokenResponse, type TokenFailure } from '@tokenwell/core/protocol'

/** Parses a response: text, or a value that is sent as JSON. */
export function parse(response: unknown, status = 200, headers = {}): ReturnType<typeof parseTokenResponse> {
  return parseTokenResponse(
    status,
    headers,
    typeof response === 'string' ? response : JSON.stringify(response),
  )
}

/** Returns the TokenError that the response must cause. */
export function failure(response: unknown, status = 200, headers = {}): TokenFailure {
  try {
    parse(response, status, headers)
  } catch (error) {
    expect(error).toBeInstanceOf(TokenError)
    return error as TokenError
  }
  throw new Error('no error')
}

export const minimal = { access_token: 'A1b2', token_type: 'Bearer' }
