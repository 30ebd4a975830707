import { describe, expect, it } from 'vitest'
import { parseTokenResponse, TokenError, type TokenFailure } from '@tokenwell/core'

const parse = (answer: unknown, status = 200, headers = {}) =>
  parseTokenResponse(status, headers, typeof answer === 'string' ? answer : JSON.stringify(answer))

function failure(answer: unknown, status = 200, headers = {}): TokenFailure {
  try {
    parse(answer, status, headers)
  } catch (error) {
    expect(error).toBeInstanceOf(TokenError)
    return error as TokenError
  }
  throw new Error('no error')
}

const minimal = { access_token: 'A1b2', token_type: 'Bearer' }

describe('a token response', () => {
  it('has every member of the contract, normalised', () => {
    const response = parse({
      ...minimal,
      expires_in: '3599',
      issued_at: '1707406838904',
      client_id: 'q7Zt',
      application_name: 'speech-demo',
      organization_name: 'example-org',
      developer_email: 'dev@example.com',
      status: 'approved',
      scope: 'read  write ',
      refresh_token: 'r3fr3sh',
      refresh_token_expires_in: '7200',
      refresh_count: '3',
      level: 'gold',
      api_product_list: '[speech-to-text, sms]',
      api_product_list_json: ['speech-to-text', ' sms ', ''],
    })
    expect(response).toMatchObject({
      accessToken: 'A1b2',
      tokenType: 'Bearer',
      expiresIn: 3_599,
      issuedAt: new Date(1_707_406_838_904),
      clientId: 'q7Zt',
      applicationName: 'speech-demo',
      organizationName: 'example-org',
      developerEmail: 'dev@example.com',
      status: 'approved',
      scope: ['read', 'write'],
      refreshToken: 'r3fr3sh',
      refreshTokenExpiresIn: 7_200,
      refreshCount: 3,
      level: 'gold',
      apiProducts: ['speech-to-text', 'sms'],
    })
  })

  it('with next to nothing has an empty scope and no other member', () => {
    const { raw, ...response } = parse(minimal)
    expect(response).toEqual({ accessToken: 'A1b2', tokenType: 'Bearer', scope: [] })
    expect(raw).toEqual(minimal)
  })

  it.each([null, '', [], {}, true])('takes %j for absent', (nothing) => {
    const names = ['client_id', 'application_name', 'level', 'status', 'refresh_token', 'issued_at']
    const { raw: _raw, ...response } = parse({
      ...minimal,
      ...Object.fromEntries(names.map((name) => [name, nothing])),
    })
    expect(response).toEqual({ accessToken: 'A1b2', tokenType: 'Bearer', scope: [] })
  })

  it.each([
    ['zero', '0', { refreshTokenExpiresIn: 0, refreshCount: 0 }],
    ['a number', 0, { refreshTokenExpiresIn: 0, refreshCount: 0 }],
    ['nothing', '', {}],
    ['a word', 'none', {}],
  ])('keeps refresh counters that are %s', (_name, value, expected) => {
    const { raw: _raw, ...response } = parse({
      ...minimal,
      refresh_token_expires_in: value,
      refresh_count: value,
    })
    expect(response).toEqual({ accessToken: 'A1b2', tokenType: 'Bearer', scope: [], ...expected })
  })

  it.each([
    ['seconds', 1_707_406_838],
    ['milliseconds', 1_707_406_838_000],
    ['microseconds', 1_707_406_838_000_000],
    ['seconds as text', '1707406838'],
  ])('guesses that issued_at is in %s', (_name, value) => {
    expect(parse({ ...minimal, issued_at: value }).issuedAt).toEqual(new Date('2024-02-08T15:40:38Z'))
  })

  it.each([0, -1, 3_600, 1e30, 'yesterday', '2024-02-08T15:40:38Z'])('has no issue date for %j', (value) => {
    expect(parse({ ...minimal, issued_at: value })).not.toHaveProperty('issuedAt')
  })

  it.each([
    [{ scope: 'a b\tc' }, ['a', 'b\tc']],
    [{ scope: ['a', ' b ', 7, null] }, ['a', 'b']],
    [{ scope: null }, []],
    [{ scope: 42 }, []],
  ])('reads %j', (members, scope) => {
    expect(parse({ ...minimal, ...members }).scope).toEqual(scope)
  })

  it.each([
    [{ api_product_list: '[a, b c,]' }, ['a', 'b c']],
    [{ api_product_list: 'a,b' }, ['a', 'b']],
    [{ api_product_list: '[a]', api_product_list_json: ['z'] }, ['z']],
    [{ api_product_list_json: [] }, []],
    [{ api_product_list: '[a]', api_product_list_json: null }, ['a']],
  ])('reads the products of %j', (members, products) => {
    expect(parse({ ...minimal, ...members }).apiProducts).toEqual(products)
  })

  it.each(['Bearer', 'bearer', 'BEARER', 'BearerToken', 'bearertoken', '', null, undefined])(
    'takes the type %j for Bearer',
    (type) => {
      expect(parse({ ...minimal, token_type: type }).tokenType).toBe('Bearer')
    },
  )

  it.each(['mac', 'DPoP', 'Bearer ', 'N_A', 'bearer bearer', 7, ['Bearer'], {}, true])(
    'of the type %j must not be used (RFC 6749, section 7.1)',
    (type) => {
      const error = failure({ ...minimal, token_type: type })
      expect(error.kind).toBe('malformed')
      expect(error.message).toContain('token_type')
    },
  )

  it.each(['a', '~', '!', 'a.b-c_d~e+f/g==', 'x'.repeat(100_000), 'with blank', '"quoted"'])(
    'may hold any visible ASCII as its token: %s',
    (token) => {
      expect(parse({ ...minimal, access_token: token }).accessToken).toBe(token)
    },
  )

  it.each([
    undefined,
    null,
    '',
    42,
    true,
    [],
    ['a'],
    {},
    ' a',
    'a ',
    'a\n',
    '\na',
    'a\r\nX-Evil: 1',
    'a\0',
    'a\tb',
    'tök',
    'a\u007f',
    '\uFEFFa',
    '\u2028',
  ])('is malformed with the token %j', (token) => {
    const error = failure({ ...minimal, access_token: token })
    expect(error).toMatchObject({ kind: 'malformed', status: 200 })
    expect(error.message).toContain('access_token')
  })

  it.each([200, 201, 203, 299])('may come with status %d', (status) => {
    expect(parse(minimal, status).accessToken).toBe('A1b2')
  })

  it.each([[304], [400], [401], [500]])('with status %d is none', (status) => {
    expect(failure(minimal, status).status).toBe(status)
  })

  it('may come as anything that is JSON, whatever its content type says', () => {
    expect(parse(minimal, 200, { 'content-type': 'text/html' }).accessToken).toBe('A1b2')
    expect(parse(`\uFEFF${JSON.stringify(minimal)}\r\n`).accessToken).toBe('A1b2')
  })

  it('does not let members change what objects are', () => {
    const body =
      '{"access_token":"A1b2","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
    const response = parse(body)
    expect(response.raw).not.toHaveProperty('polluted')
    expect({ ...response, ...response.raw }).not.toHaveProperty('polluted')
    expect(Object.assign({}, response.raw)).not.toHaveProperty('polluted')
    expect({}).not.toHaveProperty('polluted')
  })

  it('takes the last of members that stand there twice, as JSON does', () => {
    expect(parse('{"access_token":"first","access_token":"last"}').accessToken).toBe('last')
    expect(failure('{"access_token":"first","access_token":"la\\nst"}').kind).toBe('malformed')
  })

  it.each(['toString', 'hasOwnProperty', 'then', 'get', 'valueOf'])('may have a member called %s', (name) => {
    expect(parse({ ...minimal, [name]: 'odd' }).raw).toHaveProperty([name], 'odd')
  })
})

describe('an answer that is no token response', () => {
  it.each([
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
    ['deeply nested', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['deep lists', '['.repeat(100_000)],
    ['a large text', 'x'.repeat(1_000_000)],
  ])('but %s is malformed', (_name, body) => {
    expect(failure(body)).toMatchObject({ kind: 'malformed', status: 200 })
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
  ])('but an error of an odd shape, %j, is a failure without codes', (answer) => {
    const error = failure({ ...minimal, ...answer })
    expect(error.kind).toBe('malformed')
    expect(error.oauthError).toBeUndefined()
    expect(error.vendorCode).toBeUndefined()
  })

  it('is not undone by faults nested without end', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    expect(failure(`{"fault":{"faultstring":${deep}}}`, 500)).toMatchObject({ kind: 'unavailable' })
    expect(failure(`{"fault":{"detail":${deep}}}`, 500)).toMatchObject({ kind: 'unavailable' })
    expect(failure(`{"error":${deep}}`, 500)).toMatchObject({ kind: 'unavailable' })
  })

  it.each([[{ error: null }], [{ error: '' }], [{ ErrorCode: null, fault: null }]])(
    'is a token response all the same with %j',
    (nothing) => {
      expect(parse({ ...minimal, ...nothing }).accessToken).toBe('A1b2')
    },
  )
})

describe('the kind of a failure', () => {
  const fault = (errorcode: string, faultstring = '') => ({ fault: { faultstring, detail: { errorcode } } })
  const every = [200, 400, 401, 403, 429, 500, 503]

  it.each(every)('is credentials by the gateway’s code, whatever the status (%d)', (status) => {
    expect(failure(fault('oauth.v2.InvalidClientIdentifier'), status)).toMatchObject({
      kind: 'credentials',
      vendorCode: 'oauth.v2.InvalidClientIdentifier',
      status,
    })
    expect(failure({ fault: { faultstring: 'Invalid client identifier q7Zt' } }, status).kind).toBe(
      'credentials',
    )
    expect(failure({ ErrorCode: 'x', Error: 'ClientId is Invalid' }, status).kind).toBe('credentials')
  })

  it.each(every)('is throttled by the gateway’s code, whatever the status (%d)', (status) => {
    expect(failure(fault('policies.ratelimit.SpikeArrestViolation'), status).kind).toBe('throttled')
    expect(failure(fault('policies.ratelimit.QuotaViolation'), status).kind).toBe('throttled')
    expect(
      failure({ fault: { faultstring: 'Spike arrest violation. Allowed rate : 5ps' } }, status).kind,
    ).toBe('throttled')
    expect(failure('<error>Quota violation</error>', status).kind).toBe('throttled')
  })

  it('is the gateway’s code’s before the OAuth code’s', () => {
    const answer = { ...fault('policies.ratelimit.QuotaViolation'), error: 'invalid_client' }
    expect(failure(answer, 401).kind).toBe('throttled')
  })

  it.each([
    ['invalid_client', 'credentials'],
    ['unauthorized_client', 'credentials'],
    ['unsupported_grant_type', 'configuration'],
    ['invalid_scope', 'configuration'],
    ['temporarily_unavailable', 'unavailable'],
    ['server_error', 'unavailable'],
  ])('of %s is %s, whatever the status', (code, kind) => {
    for (const status of every) {
      expect(failure({ error: code }, status)).toMatchObject({ kind, oauthError: code, status })
      expect(failure({ ErrorCode: code }, status).kind).toBe(kind)
    }
  })

  it.each([
    [401, 'credentials'],
    [400, 'configuration'],
    [500, 'configuration'],
    [200, 'configuration'],
  ])('of invalid_request with status %d is %s', (status, kind) => {
    expect(failure({ error: 'invalid_request' }, status).kind).toBe(kind)
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
  ])('without a known code goes by the status: %d is %s', (status, kind) => {
    for (const body of ['', '<html>', '{}', { error: 'nobody_knows' }, { message: 'no' }]) {
      expect(failure(body, status).kind).toBe(kind)
    }
  })

  it.each(['constructor', '__proto__', 'toString'])('does not take %s for a known code', (code) => {
    expect(failure({ error: code }, 500).kind).toBe('unavailable')
  })

  it('reads a text of any length, but decides by its beginning', () => {
    expect(failure(`${' '.repeat(1_000_000)}quota violation`, 500).kind).toBe('unavailable')
  })
})

describe('codes in an error', () => {
  it.each(['invalid_client', 'a', 'x'.repeat(80), 'a.b-c_D9'])(
    'are kept in the shape of a code: %s',
    (code) => {
      expect(failure({ error: code }, 400).oauthError).toBe(code)
      expect(failure({ fault: { detail: { errorcode: code } } }, 400).vendorCode).toBe(code)
    },
  )

  it.each(['', ' ', 'two words', 'x'.repeat(81), 'a\n', 'ä', '<b>', 'a:b', 'a/b'])(
    'are dropped in any other: %j',
    (code) => {
      const error = failure({ error: code, fault: { detail: { errorcode: code } } }, 400)
      expect(error.oauthError).toBeUndefined()
      expect(error.vendorCode).toBeUndefined()
      if (code.trim()) expect(error.message).not.toContain(code)
    },
  )
})

describe('Retry-After in an answer', () => {
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

  it('is kept for what a wait may mend, and for nothing else', () => {
    expect(retryAfterMs({ 'retry-after': '7' }, 503)).toBe(7_000)
    for (const status of [200, 400, 401, 404])
      expect(retryAfterMs({ 'retry-after': '7' }, status)).toBeUndefined()
  })
})
