import { describe, expect, it } from 'vitest'
import { parseTokenResponse } from '@tokenwell/core/protocol'
import { failure, minimal, parse } from './check-response.ts'

describe('the kind of a failure', () => {
  const fault = (errorcode: string, faultstring = '') => ({ fault: { faultstring, detail: { errorcode } } })
  const every = [200, 400, 401, 403, 429, 500, 503]

  it.each(every)("is credentials for the gateway's code with any status (%d)", (status) => {
    expect(failure(fault('oauth.v2.InvalidClientIdentifier'), status)).toMatchObject({
      kind: 'credentials',
      vendorCode: 'oauth.v2.InvalidClientIdentifier',
      status,
    })
    expect(failure({ fault: { faultstring: 'Invalid client identifier q7Zt' } }, status).kind).toBe(
      'credentials',
    )
    expect(failure({ ErrorCode: 'x', Error: 'ClientId is Invalid' }, status).kind).toBe('credentials')
    expect(failure(fault('keymanagement.service.CompanyNotActive'), status).kind).toBe('credentials')
  })

  it.each(every)("is throttled for the gateway's code with any status (%d)", (status) => {
    expect(failure(fault('policies.ratelimit.SpikeArrestViolation'), status).kind).toBe('throttled')
    expect(failure(fault('policies.ratelimit.QuotaViolation'), status).kind).toBe('throttled')
    expect(failure(fault('policies.ratelimit.Other'), status).kind).toBe('throttled')
    expect(
      failure({ fault: { faultstring: 'Spike arrest violation. Allowed rate : 5ps' } }, status).kind,
    ).toBe('throttled')
    expect(failure('<error>Quota violation</error>', status).kind).toBe('throttled')
    expect(failure('policies.ratelimit.QuotaViolation', status).kind).toBe('throttled')
  })

  it("is not decided by words from two of the gateway's texts", () => {
    const response = { fault: { faultstring: 'Unknown app' }, Error: 'key not approved' }
    expect(failure(response, 400).kind).toBe('configuration')
  })

  it("is decided by the gateway's code before the OAuth code", () => {
    const response = { ...fault('policies.ratelimit.QuotaViolation'), error: 'invalid_client' }
    expect(failure(response, 401).kind).toBe('throttled')
  })

  it.each([
    ['invalid_client', 'credentials'],
    ['unauthorized_client', 'credentials'],
    ['access_denied', 'credentials'],
    ['invalid_grant', 'credentials'],
    ['invalid_target', 'configuration'],
    ['slow_down', 'throttled'],
    ['unsupported_grant_type', 'configuration'],
    ['invalid_scope', 'configuration'],
    ['temporarily_unavailable', 'unavailable'],
    ['server_error', 'unavailable'],
  ])('for %s is %s with any status', (code, kind) => {
    for (const status of every) {
      expect(failure({ error: code }, status)).toMatchObject({ kind, oauthError: code, status })
      expect(failure({ ErrorCode: code }, status).kind).toBe(kind)
    }
  })

  it.each([
    [401, 'credentials', 'rejected the client credentials'],
    [400, 'configuration', 'rejected the request'],
    [500, 'configuration', 'rejected the request'],
    [200, 'configuration', 'rejected the request'],
  ])('for invalid_request with status %d is %s', (status, kind, text) => {
    expect(failure({ error: 'invalid_request' }, status)).toMatchObject({
      kind,
      message: expect.stringContaining(`The token endpoint ${text} (${status} invalid_request).`) as string,
    })
  })

  it.each([
    [300, 'redirected the request (300). Redirects are not followed'],
    [302, 'redirected the request (302). Redirects are not followed'],
    [399, 'redirected the request (399). Redirects are not followed'],
    [400, 'rejected the request (400). Check the URL'],
    [404, 'rejected the request (404). Check the URL'],
  ])('of status %d is explained', (status, text) => {
    expect(failure({}, status).message).toContain(`The token endpoint ${text}`)
  })

  it.each([
    [301, 'configuration'],
    [302, 'configuration'],
    [307, 'configuration'],
    [400, 'configuration'],
    [403, 'configuration'],
    [404, 'configuration'],
    [405, 'configuration'],
    [408, 'unavailable'],
    [410, 'configuration'],
    [415, 'configuration'],
    [425, 'unavailable'],
    [429, 'throttled'],
    [500, 'unavailable'],
    [501, 'unavailable'],
    [502, 'unavailable'],
    [503, 'unavailable'],
    [504, 'unavailable'],
    [529, 'unavailable'],
  ])('is decided by the status without a known code: %d is %s', (status, kind) => {
    for (const body of ['', '<html>', '{}', { error: 'nobody_knows' }, { message: 'no' }]) {
      expect(failure(body, status).kind).toBe(kind)
    }
  })

  it('is decided by what a 401 says about the client', () => {
    for (const body of ['', '<html>', '{}', '"no token"'])
      expect(failure(body, 401).kind).toBe('configuration')
    for (const body of [{ error: 'nobody_knows' }, { message: 'no' }])
      expect(failure(body, 401).kind).toBe('credentials')
  })

  it.each(['constructor', '__proto__', 'toString'])('does not treat %s as a known code', (code) => {
    expect(failure({ error: code }, 500).kind).toBe('unavailable')
  })

  it('is decided by the beginning of a long text', () => {
    expect(failure(`${' '.repeat(1_000_000)}quota violation`, 500).kind).toBe('unavailable')
  })
})

describe('codes in an error', () => {
  it.each(['invalid_client', 'a', 'x'.repeat(80), 'a.b-c_D9'])(
    'are kept if they look like codes: %s',
    (code) => {
      expect(failure({ error: code }, 400).oauthError).toBe(code)
      expect(failure({ fault: { detail: { errorcode: code } } }, 400).vendorCode).toBe(code)
    },
  )

  it.each(['', ' ', 'two words', 'x'.repeat(81), 'a\n', 'ä', '<b>', 'a:b', 'a/b'])(
    'are dropped otherwise: %j',
    (code) => {
      const error = failure({ error: code, fault: { detail: { errorcode: code } } }, 400)
      expect(error.oauthError).toBeUndefined()
      expect(error.vendorCode).toBeUndefined()
      if (code.trim()) expect(error.message).not.toContain(code)
    },
  )
})

describe('Retry-After in a response', () => {
  const retryAfterMs = (headers: Record<string, string>, status = 429) =>
    failure('', status, headers).retryAfterMs
  it.each([
    [{ 'retry-after': '7' }, 7_000],
    [{ 'Retry-After': ' 7 ' }, 7_000],
    [{ 'RETRY-AFTER': '0' }, 0],
    [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:47 GMT', date: 'Sun, 06 Nov 1994 08:49:37 GMT' }, 10_000],
    [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT', date: 'Sun, 06 Nov 1994 08:49:47 GMT' }, 0],
    [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1' }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ])('%j is %j', (headers, expected) => {
    expect(retryAfterMs(headers)).toBe(expected)
    expect(failure('', 429, new Headers(headers)).retryAfterMs).toBe(expected)
  })

  it('is used for temporary failures only', () => {
    expect(retryAfterMs({ 'retry-after': '7' }, 503)).toBe(7_000)
    for (const status of [200, 400, 401, 404])
      expect(retryAfterMs({ 'retry-after': '7' }, status)).toBeUndefined()
  })
})

const identity = { client: 'billing', clientId: 'q7Zt', tokenEndpoint: 'https://auth.example.com/token' }
const rejected = { error: 'invalid_client', fault: { detail: { errorcode: 'oauth.v2.Other' } } }

describe('the message of an error', () => {
  it.each([
    [
      401,
      rejected,
      'The token endpoint rejected the client credentials (401 invalid_client oauth.v2.Other). Check the client ID, secret and approval of "q7Zt" (billing) at https://auth.example.com/token.',
      'The token endpoint rejected the client credentials (401 invalid_client oauth.v2.Other). Check the client ID, secret and approval.',
    ],
    [
      400,
      { error: 'invalid_scope' },
      'The token endpoint https://auth.example.com/token rejected the request (400 invalid_scope). Check the URL, grant and scope of "q7Zt" (billing).',
      'The token endpoint rejected the request (400 invalid_scope). Check the URL, grant and scope.',
    ],
    [
      302,
      {},
      'The token endpoint https://auth.example.com/token redirected the request (302). Redirects are not followed. Check the URL.',
      'The token endpoint redirected the request (302). Redirects are not followed. Check the URL.',
    ],
    [
      0,
      {},
      'The token endpoint https://auth.example.com/token redirected the request (redirect). Redirects are not followed. Check the URL.',
      'The token endpoint redirected the request (redirect). Redirects are not followed. Check the URL.',
    ],
    [
      429,
      {},
      'The token endpoint https://auth.example.com/token rate-limited the request (429).',
      'The token endpoint rate-limited the request (429).',
    ],
    [
      503,
      {},
      'The token endpoint https://auth.example.com/token is unavailable (503).',
      'The token endpoint is unavailable (503).',
    ],
    [
      200,
      {},
      'The response has no valid access_token (200). Check the URL of the token endpoint, https://auth.example.com/token.',
      'The response has no valid access_token (200). Check the URL of the token endpoint.',
    ],
    [
      200,
      { access_token: 'A1b2', token_type: 'mac' },
      'The response has an unsupported token_type (200). If tokens of this type are sent as Bearer, add it to tokenTypes.',
      'The response has an unsupported token_type (200). If tokens of this type are sent as Bearer, add it to tokenTypes.',
    ],
  ])('names the client and the token endpoint, if they are known: %d %j', (status, body, named, unnamed) => {
    const parse = (options?: typeof identity) => () =>
      parseTokenResponse(status, {}, JSON.stringify(body), options)
    expect(parse(identity)).toThrow(expect.objectContaining({ message: named }))
    expect(parse()).toThrow(expect.objectContaining({ message: unnamed }))
  })
})

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
    [{ error: { code: 7 } }],
    [{ error: ['invalid'] }],
    [{ error: true }],
    [{ error: 'x'.repeat(81) }],
    [{ error: 'has blanks' }],
    [{ ErrorCode: 17 }],
    [{ fault: 'text' }],
    [{ fault: { faultstring: { toString: 1, valueOf: 1 } } }],
    [{ fault: { faultstring: null, detail: null } }],
    [{ fault: { detail: { errorcode: { toString: 1 } } } }],
    [{ error: 'two words', Error: { toString: 1, valueOf: 1 } }],
  ])('with a malformed error, %j, is a failure without codes', (response) => {
    const error = failure({ ...minimal, ...response })
    expect(error.kind).toBe('configuration')
    expect(error.oauthError).toBeUndefined()
    expect(error.vendorCode).toBeUndefined()
  })

  it('is parsed despite deeply nested faults', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(failure(`{"fault":{"faultstring":${deep}}}`, 500)).toMatchObject({ kind: 'unavailable' })
    expect(failure(`{"fault":{"detail":${deep}}}`, 500)).toMatchObject({ kind: 'unavailable' })
    expect(failure(`{"error":${deep}}`, 500)).toMatchObject({ kind: 'unavailable' })
  })

  it.each([
    [{ error: null }],
    [{ error: '' }],
    [{ error: {} }],
    [{ error: [] }],
    [{ fault: {}, ok: true }],
    [{ ErrorCode: null, fault: null }],
  ])('remains a token response with %j', (nothing) => {
    expect(parse({ ...minimal, ...nothing }).accessToken).toBe('A1b2')
  })
})

describe('an error with status 200', () => {
  it.each<[object, string, string]>([
    [{ error: 'incorrect_client_credentials' }, 'credentials', 'rejected the client credentials (200'],
    [{ ok: false, error: 'bad_client_secret' }, 'credentials', 'rejected the client credentials (200'],
    [{ ok: false, error: 'team_access_not_granted' }, 'configuration', 'rejected the request (200 team'],
    [{ error: { code: 'E12', message: 'no such client' } }, 'configuration', 'rejected the request (200 E12'],
    [{ errorCode: 'E0000011', errorSummary: 'Invalid token' }, 'configuration', '(200 E0000011)'],
  ])('is classified by its code: %j is %s', (body, kind, message) => {
    const found = failure(body)
    expect(found.kind).toBe(kind)
    expect(found.message).toContain(message)
  })
})

describe('the reason of a server', () => {
  const secrets = ['s3cr3t-of-zoe']
  const reasonOf = (status: number, body: unknown): unknown => {
    try {
      return parseTokenResponse(status, {}, JSON.stringify(body), { secrets })
    } catch (error) {
      const { reason, message } = error as { reason: string; message: string }
      expect(message.endsWith(` "${reason}"`)).toBe(true)
      return reason
    }
  }

  it.each<[number, object]>([
    [400, { error: 'invalid_client', reason: 'no such client' }],
    [400, { error: 'invalid_client', message: 'no such client', success: false }],
    [401, { errorCode: 'invalid_client', errorSummary: 'no such client' }],
    [403, { error: { code: 403, message: 'no such client', status: 'PERMISSION_DENIED' } }],
    [400, { title: 'Bad Request', detail: 'no such client', status: 400 }],
    [400, { error: 'x', error_description: { text: 'no such client' } }],
    [400, { error: 'x', error_description: { en: 'no such client' }, message: 'other' }],
    [200, { ok: false, message: 'no such client' }],
    [200, { message: 'no such client' }],
  ])('with status %d is found in %j', (status, body) => {
    expect(reasonOf(status, body)).toBe('no such client')
  })

  it('is redacted wherever it is', () => {
    for (const member of ['reason', 'message', 'errorSummary', 'detail']) {
      expect(reasonOf(400, { [member]: 'wrong secret s3cr3t-of-zoe' })).toBe('wrong secret [redacted]')
    }
    expect(reasonOf(400, { error: { message: 's3cr3t-of-zoe' } })).toBe('[redacted]')
  })

  it('is not searched in members that are not text', () => {
    const body = { reason: 7, message: [], detail: { code: 5 }, error: { message: {} } }
    expect(() => parseTokenResponse(400, {}, JSON.stringify(body), { secrets })).toThrow(
      'rejected the request (400). Check the URL, grant and scope.',
    )
  })
})

describe('an unsupported token_type', () => {
  const read = (type: unknown, tokenTypes?: string[], secrets: string[] = []) =>
    parseTokenResponse(200, {}, JSON.stringify({ ...minimal, token_type: type }), { tokenTypes, secrets })

  it('is quoted in the error, but never with a secret', () => {
    expect(() => read('Application Access Token')).toThrow(
      'The response has an unsupported token_type, "Application Access Token" (200). If tokens of this type are sent as Bearer, add it to tokenTypes.',
    )
    expect(() => read('zoes-key', undefined, ['zoes-key'])).toThrow('token_type, "[redacted]" (200)')
    expect(() => read(`mac${'x'.repeat(1_000)}`)).toThrow(/^.{0,220}$/)
  })

  it('is sent as Bearer if the options name it, whatever its case', () => {
    expect(read('APPLICATION access token ', ['Application Access Token']).tokenType).toBe('Bearer')
    expect(read('DPoP', ['mac']).tokenType).toBe('DPoP')
    expect(() => read('Application', ['Application Access Token'])).toThrow('unsupported token_type')
    expect(() => read(['mac'], ['mac'])).toThrow('unsupported token_type')
  })
})
