import { describe, expect, it } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { classifyApiResponse, parseTokenResponse } from '@tokenwell/core/protocol'
import responses from './responses.json' with { type: 'json' }

const { tokenSuccess, tokenErrors, apiRejections } = responses

/** `null` in the data means that a member must be absent. */
function expectMembers(actual: object, expected: object): void {
  for (const [name, value] of Object.entries(expected)) {
    if (value === null) expect(actual).not.toHaveProperty(name)
    else expect(actual).toHaveProperty([name], value)
  }
}

describe('successful token responses', () => {
  it.each(tokenSuccess)('$name', ({ status, contentType, body, expect: expected }) => {
    const response = parseTokenResponse(status, { 'Content-Type': contentType }, body)
    expectMembers(response, expected)
    expect(response.raw).toEqual(JSON.parse(body))
  })
})

describe('token error responses', () => {
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

describe('API responses', () => {
  it.each(apiRejections)('$name', ({ status, contentType, headers, body, expect: expected }) => {
    const classified = classifyApiResponse(
      status,
      { ...(headers as object), 'content-type': contentType },
      body,
    )
    expectMembers(classified, expected)
  })
})
