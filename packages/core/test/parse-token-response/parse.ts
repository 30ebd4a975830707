import { expect } from 'vitest'
import { parseTokenResponse, TokenError, type TokenFailure } from '@tokenwell/core'

/** Reads an answer, given as text or as what its JSON is to be. */
export function parse(answer: unknown, status = 200, headers = {}): ReturnType<typeof parseTokenResponse> {
  return parseTokenResponse(status, headers, typeof answer === 'string' ? answer : JSON.stringify(answer))
}

/** The TokenError that an answer must lead to. */
export function failure(answer: unknown, status = 200, headers = {}): TokenFailure {
  try {
    parse(answer, status, headers)
  } catch (error) {
    expect(error).toBeInstanceOf(TokenError)
    return error as TokenError
  }
  throw new Error('no error')
}

export const minimal = { access_token: 'A1b2', token_type: 'Bearer' }
