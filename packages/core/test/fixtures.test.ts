import { describe, expect, it } from 'vitest'
import { classifyApiResponse, parseTokenResponse, TokenError } from '@tokenwell/core'
import apiRejections from './data/api-rejections.json' with { type: 'json' }
import tokenErrors from './data/token-errors.json' with { type: 'json' }
import tokenSuccess from './data/token-success.json' with { type: 'json' }

/** Members expected to be absent stand as null in the data. */
function expectMembers(actual: object, expected: object): void {
  for (const [name, value] of Object.entries(expected)) {
    if (value === null) expect(actual).not.toHaveProperty(name)
    else expect(actual).toHaveProperty([name], value)
  }
}

describe('responses with a token', () => {
  it.each(tokenSuccess)('$name', ({ status, contentType, body, expect: expected }) => {
    const response = parseTokenResponse(status, { 'Content-Type': contentType }, body)
    expectMembers(response, expected)
    expect(response.raw).toEqual(JSON.parse(body))
  })
})

describe('responses without a token', () => {
  it.each(tokenErrors)('$name', ({ status, contentType, headers, body, expect: expected }) => {
    let error: unknown
    try {
      parseTokenResponse(status, new Headers({ ...headers, 'content-type': contentType }), body)
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(TokenError)
    expectMembers(error as TokenError, expected)
  })
})

describe('responses of APIs', () => {
  it.each(apiRejections)('$name', ({ status, contentType, headers, body, expect: expected }) => {
    const classified = classifyApiResponse(
      status,
      { ...(headers as object), 'content-type': contentType },
      body,
    )
    expectMembers(classified, expected)
  })
})
