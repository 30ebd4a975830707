import { describe, expect, it } from 'vitest'
import { classifyApiResponse } from '@tokenwell/core/protocol'

const challenge = (header: string, status = 401) =>
  classifyApiResponse(status, { 'WWW-Authenticate': header })
const fault = (errorcode: string, status: number, faultstring = '') =>
  classifyApiResponse(status, {}, JSON.stringify({ fault: { faultstring, detail: { errorcode } } }))

describe('the response of an API', () => {
  it.each([200, 204, 301, 302, 304, 399])('with status %d does not reject the token', (status) => {
    expect(challenge('Bearer error="invalid_token"', status)).toEqual({ tokenRejected: false })
  })

  it.each([400, 402, 403, 404, 407, 418, 429, 500, 502, 503])(
    'with %d and no challenge does not reject the token',
    (status) => {
      expect(classifyApiResponse(status, {})).toEqual({ tokenRejected: false })
      expect(classifyApiResponse(status, {}, 'text')).toEqual({ tokenRejected: false })
    },
  )

  it('with 401 and no challenge rejects the token', () => {
    expect(classifyApiResponse(401, {})).toEqual({ tokenRejected: true })
    expect(classifyApiResponse(401, new Headers(), '')).toEqual({ tokenRejected: true })
    expect(classifyApiResponse(401, {}, '{"error":"unauthorized"}')).toEqual({ tokenRejected: true })
  })
})

describe('a challenge', () => {
  it.each([
    ['Bearer', true],
    ['bearer realm="api"', true],
    ['Bearer error="invalid_token"', true],
    ['Bearer error=invalid_token', true],
    ['BEARER ERROR="invalid_token"', true],
    [
      'Bearer realm="a, b=\\"c\\" error=x", error = "invalid_token", error_description="expired, sorry"',
      true,
    ],
    ['Basic realm="proxy", Bearer error="invalid_token"', true],
    ['Bearer error="invalid_token", Basic realm="x"', true],
    ['Negotiate, Bearer realm="x"', true],
    ['Bearer error="insufficient_scope", scope="a b"', false],
    ['Bearer error="invalid_request"', false],
    ['Bearer realm="error=\\"invalid_token\\"", error="insufficient_scope"', false],
    ['Basic realm="Bearer"', false],
    ['Basic realm="Bearer error=\\"invalid_token\\""', false],
    ['Negotiate', false],
    ['DPoP error="invalid_token"', true],
    ['DPoP error="use_dpop_nonce"', false],
    ['Token', true],
    ['OAuth realm="api"', true],
    ['JWT', true],
    ['Bearer error="token_expired"', true],
    ['Bearer error="expired_token"', true],
    [
      `Bearer realm="null",error='invalid_token",error_description='keymanagement.service.access_token_expired: "`,
      true,
    ],
    ['Digest realm="x", nonce="Bearer"', false],
    ['Basic realm="x", error="invalid_token"', false],
    ['X-Basic realm="x"', true],
    ['Basic-Token realm="x"', true],
    ['DPoP error="use_dpop_nonce", Bearer error="invalid_token"', true],
    ['DPoP error="invalid_token", Bearer error="insufficient_scope"', false],
  ])('for %s: token rejected: %s', (header, tokenRejected) => {
    expect(challenge(header).tokenRejected).toBe(tokenRejected)
  })

  it('is read with any status', () => {
    expect(challenge('Bearer error="invalid_token"', 403).tokenRejected).toBe(true)
    expect(challenge('Bearer error = "invalid_token"', 400).tokenRejected).toBe(true)
    expect(challenge('Bearer error="insufficient_scope"', 403).tokenRejected).toBe(false)
    expect(challenge('Bearer', 403).tokenRejected).toBe(false)
  })

  it.each([
    'invalid_token',
    'expired',
    'token_expired',
    'expired_token',
    'token_expired_token',
    'token_revoked',
  ])('with the code %s rejects the token with any status, and no longer code does', (code) => {
    expect(challenge(`Bearer error="${code}"`, 403).tokenRejected).toBe(true)
    expect(challenge(`Bearer error="${code}_format"`, 403).tokenRejected).toBe(false)
    expect(challenge(`Bearer error="not_${code}"`, 403).tokenRejected).toBe(false)
  })

  it.each(['insufficient_scope', 'invalid_request', 'insufficient_user_authentication', 'use_dpop_nonce'])(
    'with the code %s does not reject the token, and a longer code does',
    (code) => {
      expect(challenge(`Bearer error="${code}"`).tokenRejected).toBe(false)
      expect(challenge(`Bearer error="${code}.x"`).tokenRejected).toBe(true)
      expect(challenge(`Bearer error="x.${code}"`).tokenRejected).toBe(true)
    },
  )

  it.each([`Bearer error='invalid_token"`, `Bearer error='invalid_token'`])(
    'is read despite wrong quotation marks: %s',
    (header) => {
      expect(challenge(header, 403)).toEqual({ tokenRejected: true, reason: 'invalid_token' })
    },
  )

  it('is read from the challenge that has an error, whatever its scheme', () => {
    expect(challenge('Bearer realm="api", DPoP error="insufficient_scope"')).toEqual({
      tokenRejected: false,
      reason: 'insufficient_scope',
    })
  })

  it('keeps quotation marks inside the reason', () => {
    expect(challenge(`Bearer error="won't"`).reason).toBe("won't")
  })

  it('provides a reason', () => {
    expect(challenge('Bearer error="insufficient_scope"')).toEqual({
      tokenRejected: false,
      reason: 'insufficient_scope',
    })
    expect(challenge('Bearer error="invalid_token"')).toEqual({
      tokenRejected: true,
      reason: 'invalid_token',
    })
  })

  it.each([
    '',
    ' ',
    ',',
    '=',
    '"',
    'Bearer error="',
    '\\',
    '=,=,=',
    'Bearer error',
    'Bearer error=',
    '"Bearer"',
  ])('that is malformed, %j, counts as its scheme or as none', (header) => {
    expect(challenge(header).tokenRejected).toBe(true)
  })

  it('of any length is read in linear time', () => {
    for (const part of ['a ', 'a="', 'a=', 'Bearer, ', '\\"', 'error="x", ', ' ', '=', 'a="\\"']) {
      const start = performance.now()
      challenge(part.repeat(16_384 / part.length))
      // A guard against hanging, not a measurement.
      expect(performance.now() - start).toBeLessThan(10_000)
    }
  })
})

describe('the gateway’s fault', () => {
  it.each([401, 400, 403, 500])('rejects the token with any status (%d)', (status) => {
    for (const code of [
      'keymanagement.service.access_token_expired',
      'keymanagement.service.invalid_access_token',
      'keymanagement.service.access_token_not_approved',
      'oauth.v2.AccessTokenRevoked',
      'oauth.v2.AccessTokenNotApproved',
      'accesstoken.notapproved',
      'invalidaccesstoken',
      'invalid.access-token',
    ]) {
      expect(fault(code, status).tokenRejected, code).toBe(true)
    }
    expect(fault('steps.oauth.v2.Other', status, 'Access Token expired').tokenRejected).toBe(true)
    expect(fault('x', status, 'Invalid Access Token').tokenRejected).toBe(true)
  })

  it.each([
    'policies.ratelimit.SpikeArrestViolation',
    'policies.ratelimit.QuotaViolation',
    'oauth.v2.InsufficientScope',
    'steps.oauth.v2.insufficient_scope',
    'oauth.v2.InvalidApiProduct',
  ])('does not reject the token if a new one would not help, even with 401: %s', (code) => {
    expect(fault(code, 401).tokenRejected).toBe(false)
  })

  it('takes precedence over the challenge', () => {
    const body = JSON.stringify({
      fault: { detail: { errorcode: 'keymanagement.service.access_token_expired' } },
    })
    expect(classifyApiResponse(401, { 'www-authenticate': 'Basic' }, body)).toEqual({
      tokenRejected: true,
      reason: 'keymanagement.service.access_token_expired',
    })
  })

  it.each([
    '{',
    '',
    'fault',
    '{"fault":',
    '[]',
    'null',
    '{"fault":null}',
    '{"fault":"x"}',
    '{"fault":{"faultstring":{"toString":1}}}',
  ])('is ignored if the body is invalid: %j', (body) => {
    expect(classifyApiResponse(401, {}, body).tokenRejected).toBe(true)
    expect(classifyApiResponse(500, {}, body).tokenRejected).toBe(false)
  })

  it('is ignored if the body is truncated', () => {
    const body = `{"fault":{"faultstring":"${'x'.repeat(16_384)}`
    expect(classifyApiResponse(500, {}, body).tokenRejected).toBe(false)
  })

  it('is ignored in a successful response', () => {
    expect(fault('keymanagement.service.access_token_expired', 200).tokenRejected).toBe(false)
  })
})
