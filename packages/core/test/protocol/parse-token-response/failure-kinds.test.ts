import { describe, expect, it } from 'vitest'
import { failure } from './parse.ts'

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
    [401, 'credentials'],
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
