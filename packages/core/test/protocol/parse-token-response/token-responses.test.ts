import { describe, expect, it } from 'vitest'
import { tokenResponseSchema } from '@tokenwell/core/protocol'
import { failure, minimal, parse } from './check-response.ts'

describe('the schema of a token response', () => {
  const read = (members: object): unknown => {
    const result = tokenResponseSchema['~standard'].validate({ ...minimal, ...members })
    return result.issues ?? result.value
  }
  const rest = { accessToken: 'A1b2', tokenType: 'Bearer', scope: [] }

  // The rows of the contract's table of fields, as both forms of the response have them, and those of RFC 6749, section 5.1.
  it.each([
    ['access_token', 'Z9', { accessToken: 'Z9' }],
    ['token_type', 'Bearer', { tokenType: 'Bearer' }],
    ['expires_in', '3599', { expiresIn: 3_599 }],
    ['expires_in', 3_599, { expiresIn: 3_599 }],
    ['issued_at', '1707406838904', { issuedAt: new Date(1_707_406_838_904) }],
    ['client_id', 'q7Zt', { clientId: 'q7Zt' }],
    ['application_name', 'speech-demo', { applicationName: 'speech-demo' }],
    ['organization_name', 'example-org', { organizationName: 'example-org' }],
    ['developer_email', 'dev@example.com', { developerEmail: 'dev@example.com' }],
    ['status', 'approved', { status: 'approved' }],
    ['scope', 'read write', { scope: ['read', 'write'] }],
    ['scope', '', { scope: [] }],
    ['refresh_token', 'r3fr3sh', { refreshToken: 'r3fr3sh' }],
    ['refresh_token', '', {}],
    ['refresh_token_expires_in', '0', { refreshTokenExpiresIn: 0 }],
    ['refresh_count', '0', { refreshCount: 0 }],
    ['level', 'gold', { level: 'gold' }],
    ['api_product_list', '[speech-to-text, sms]', { apiProducts: ['speech-to-text', 'sms'] }],
    ['api_product_list_json', ['speech-to-text', 'sms'], { apiProducts: ['speech-to-text', 'sms'] }],
  ])('reads %s: %j', (member, sent, fields) => {
    expect(read({ [member]: sent })).toEqual({ ...rest, ...fields })
  })

  it.each(['access_token', 'token_type'])('names %s if it is not valid', (member) => {
    expect(read({ [member]: 42 })).toMatchObject([{ path: [member] }])
  })

  it('loses no token for another member, whatever that is', () => {
    const members = 'expires_in refresh_in issued_at scope client_id status refresh_token refresh_count level'
    for (const odd of [null, true, 42, 'odd', '', [], [null], {}, { a: [1] }, -1, 1e300]) {
      const response = read(Object.fromEntries(members.split(' ').map((member) => [member, odd])))
      expect(response).toMatchObject({ accessToken: 'A1b2', tokenType: 'Bearer' })
    }
  })

  it.each([undefined, null, 'text', 42, []])('is not fulfilled by %j', (value) => {
    expect(tokenResponseSchema['~standard'].validate(value).issues).toHaveLength(1)
  })
})

describe('a token response', () => {
  it("has every member of the platform's responses, normalised", () => {
    const { raw: _raw, ...response } = parse({
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
    expect(response).toEqual({
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

  it("may have the developer's address under its other name", () => {
    const { raw: _raw, ...response } = parse({ ...minimal, 'developer.email': 'dev@example.com' })
    const developerEmail = 'dev@example.com'
    expect(response).toEqual({ accessToken: 'A1b2', tokenType: 'Bearer', scope: [], developerEmail })
  })

  it('with only a token has an empty scope and no other member', () => {
    const { raw, ...response } = parse(minimal)
    expect(response).toEqual({ accessToken: 'A1b2', tokenType: 'Bearer', scope: [] })
    expect(raw).toEqual(minimal)
  })

  it.each([null, '', [], {}, true])('treats %j as absent', (nothing) => {
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
  ])('detects that issued_at is in %s', (_name, value) => {
    expect(parse({ ...minimal, issued_at: value }).issuedAt).toEqual(new Date('2024-02-08T15:40:38Z'))
  })

  it.each([
    0,
    -1,
    3_600,
    99_999_999,
    '100000000000000100',
    '9'.repeat(300),
    '9'.repeat(301),
    1e30,
    'yesterday',
    '2024-02-08T15:40:38Z',
  ])('has no issue date with issued_at %j', (value) => {
    expect(parse({ ...minimal, issued_at: value })).not.toHaveProperty('issuedAt')
  })

  it.each([
    [1e8, '1973-03-03T09:46:40.000Z'],
    [99_999_999_999, '5138-11-16T09:46:39.000Z'],
    [1e11, '1973-03-03T09:46:40.000Z'],
    [99_999_999_999_999, '5138-11-16T09:46:39.999Z'],
    [1e14, '1973-03-03T09:46:40.000Z'],
    [1e17, '5138-11-16T09:46:40.000Z'],
  ])('has an issue date from 1973 to 5138 with issued_at %d', (value, expected) => {
    expect(parse({ ...minimal, issued_at: value }).issuedAt?.toISOString()).toBe(expected)
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
    [{ api_product_list: '[a[1], b]' }, ['a[1]', 'b']],
    [{ api_product_list: '[a]', api_product_list_json: ['z'] }, ['z']],
    [{ api_product_list_json: [] }, []],
    [{ api_product_list: '[]' }, undefined],
    [{ api_product_list: '[a]', api_product_list_json: ' , ' }, ['a']],
    [{ api_product_list: '[a]', api_product_list_json: null }, ['a']],
  ])('reads the products in %j', (members, products) => {
    expect(parse({ ...minimal, ...members }).apiProducts).toEqual(products)
  })

  it.each(['Bearer', 'bearer', 'BEARER', 'BearerToken', 'bearertoken', 'Bearer ', '', null, undefined])(
    'treats the type %j as Bearer',
    (type) => {
      expect(parse({ ...minimal, token_type: type }).tokenType).toBe('Bearer')
    },
  )

  it.each(['JWT', 'N_A', 'N/A'])('treats the type %j of a JWT as Bearer', (type) => {
    const jwt = `${btoa('{}')}.${btoa('{"exp":1}')}.signature`
    expect(parse({ ...minimal, access_token: jwt, token_type: type }).tokenType).toBe('Bearer')
  })

  it('reads a JWT in base64url', () => {
    const jwt = `${btoa('{}')}.${btoa('{"sub":"???>>>"}').replaceAll('/', '_').replaceAll('+', '-')}.signature`
    expect(jwt).toMatch(/_.*-/)
    expect(parse({ ...minimal, access_token: jwt, token_type: 'JWT' }).tokenType).toBe('Bearer')
  })

  it.each(['JWTs', 'a JWT'])('treats the unknown type %j of a JWT as malformed', (type) => {
    const jwt = `${btoa('{}')}.${btoa('{"exp":1}')}.signature`
    expect(failure({ ...minimal, access_token: jwt, token_type: type }).kind).toBe('malformed')
  })

  it.each(['', `.${btoa('{}')}`, '..', '.!.', `.${btoa('null')}.`, `.${btoa('1')}.`, `.${btoa('{')}.`])(
    'treats the type JWT of any other token, such as a%s, as malformed',
    (rest) => {
      expect(failure({ ...minimal, access_token: `a${rest}`, token_type: 'JWT' }).kind).toBe('malformed')
    },
  )

  it('keeps the type of a token that is bound to a key', () => {
    expect(parse({ ...minimal, token_type: 'DPoP' }).tokenType).toBe('DPoP')
  })

  it.each(['mac', 'N_A', 'JWT', 'bearer bearer', 7, ['Bearer'], {}, true])(
    'with the type %j is malformed (RFC 6749, section 7.1)',
    (type) => {
      const error = failure({ ...minimal, token_type: type })
      expect(error.kind).toBe('malformed')
      expect(error.message).toContain('token_type')
    },
  )

  it.each(['a', '~', '!', 'a.b-c_d~e+f/g==', 'x'.repeat(100_000), 'with blank', '"quoted"'])(
    'may contain any visible ASCII as its token: %s',
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

  it.each([200, 201, 203, 299])('is accepted with status %d', (status) => {
    expect(parse(minimal, status).accessToken).toBe('A1b2')
  })

  it.each([[304], [400], [401], [500]])('is rejected with status %d', (status) => {
    expect(failure(minimal, status).status).toBe(status)
  })

  it('may have any content type if its body is JSON', () => {
    expect(parse(minimal, 200, { 'content-type': 'text/html' }).accessToken).toBe('A1b2')
    expect(parse(`\uFEFF${JSON.stringify(minimal)}\r\n`).accessToken).toBe('A1b2')
  })

  it('does not change prototypes', () => {
    const body =
      '{"access_token":"A1b2","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'
    const response = parse(body)
    expect(response.raw).not.toHaveProperty('polluted')
    expect({ ...response, ...response.raw }).not.toHaveProperty('polluted')
    expect(Object.assign({}, response.raw)).not.toHaveProperty('polluted')
    expect({}).not.toHaveProperty('polluted')
  })

  it('uses the last of duplicate members, as JSON does', () => {
    expect(parse('{"access_token":"first","access_token":"last"}').accessToken).toBe('last')
    expect(failure('{"access_token":"first","access_token":"la\\nst"}').kind).toBe('malformed')
  })

  it.each(['toString', 'hasOwnProperty', 'then', 'get', 'valueOf'])('may have a member named %s', (name) => {
    expect(parse({ ...minimal, [name]: 'odd' }).raw).toHaveProperty([name], 'odd')
  })

  it('keeps no unknown member that is nested too deeply or too large', () => {
    const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
    const unknown = {
      before: 'kept',
      nested: nested(16),
      large: 'x'.repeat(60_000),
      tooDeep: nested(17),
      tooLarge: 'x'.repeat(6_000),
      after: { kept: true },
    }
    const { extra, raw } = parse({ ...minimal, ...unknown })
    expect(Object.keys(extra!)).toEqual(['before', 'nested', 'large', 'after'])
    expect(Object.keys(raw)).toHaveLength(Object.keys(minimal).length + 6)
    const deepest = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    expect(parse(`{"access_token":"A1b2","deepest":${deepest}}`)).not.toHaveProperty('extra')
  })
})
