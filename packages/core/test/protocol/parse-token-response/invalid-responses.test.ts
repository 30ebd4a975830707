import { describe, expect, it } from 'vitest'
import { failure, minimal, parse } from './parse.ts'

describe('a response that is not a token response', () => {
  it.each<[string, string, string?]>([
    ['empty', ''],
    ['blank', ' \n'],
    ['null', 'null'],
    ['a number', '42'],
    ['a string', '"token"'],
    ['a list', `[${JSON.stringify(minimal)}]`],
    ['HTML', '<!DOCTYPE html><title>Sign in</title>'],
    ['XML', '<?xml version="1.0"?><access_token>a</access_token>'],
    ['a form', 'access_token=a&token_type=Bearer'],
    ['truncated', '{"access_token":"A1b2","token_ty'],
    ['with a NUL', '{"access_token":"A1b2"}\0'],
    ['two objects', '{"access_token":"A1b2"}{"access_token":"A1b2"}'],
    ['deeply nested', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 'has no valid access_token'],
    ['deep lists', '['.repeat(100_000)],
    ['a large text', 'x'.repeat(1_000_000)],
  ])('such as %s is malformed', (_name, body, problem = 'is not JSON') => {
    const message = expect.stringContaining(`The response ${problem}`) as string
    expect(failure(body)).toMatchObject({ kind: 'malformed', status: 200, message })
  })

  it('is malformed if a form has another content type', () => {
    const headers = { 'content-type': 'text/plain; of=application/x-www-form-urlencoded' }
    expect(failure('access_token=a&token_type=Bearer', 200, headers).kind).toBe('malformed')
  })

  it.each([
    [{ error: {} }],
    [{ error: ['invalid'] }],
    [{ error: true }],
    [{ error: 'x'.repeat(81) }],
    [{ error: 'has blanks' }],
    [{ ErrorCode: 17 }],
    [{ fault: {} }],
    [{ fault: 'text' }],
    [{ fault: { faultstring: { toString: 1, valueOf: 1 } } }],
    [{ fault: { faultstring: null, detail: null } }],
    [{ fault: { detail: { errorcode: { toString: 1 } } } }],
    [{ error: 'two words', Error: { toString: 1, valueOf: 1 } }],
  ])('with a malformed error, %j, is a failure without codes', (response) => {
    const error = failure({ ...minimal, ...response })
    expect(error.kind).toBe('malformed')
    expect(error.oauthError).toBeUndefined()
    expect(error.vendorCode).toBeUndefined()
  })

  it('is parsed despite deeply nested faults', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(failure(`{"fault":{"faultstring":${deep}}}`, 500)).toMatchObject({ kind: 'unavailable' })
    expect(failure(`{"fault":{"detail":${deep}}}`, 500)).toMatchObject({ kind: 'unavailable' })
    expect(failure(`{"error":${deep}}`, 500)).toMatchObject({ kind: 'unavailable' })
  })

  it.each([[{ error: null }], [{ error: '' }], [{ ErrorCode: null, fault: null }]])(
    'remains a token response with %j',
    (nothing) => {
      expect(parse({ ...minimal, ...nothing }).accessToken).toBe('A1b2')
    },
  )
})
