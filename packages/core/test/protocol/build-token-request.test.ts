import { describe, expect, it } from 'vitest'
import { clientCredentials, type ClientCredentialsOptions } from '@tokenwell/core'
import { buildTokenRequest, headerValue } from '@tokenwell/core/protocol'

type Options = Parameters<typeof buildTokenRequest>[0]

const credentials = { clientId: 'client', clientSecret: 'secret' }
const platform = { ...credentials, authUrl: 'https://auth.example.com' }
const standard = { ...credentials, tokenEndpoint: 'https://auth.example.com/token' }
const formOf = (options: Options) => [...new URLSearchParams(buildTokenRequest(options).body)]
const errorWith = (message: string | RegExp) =>
  expect.objectContaining({
    name: 'TokenError',
    kind: 'configuration',
    message: expect.stringMatching(message) as string,
  })

describe('the platform’s token request', () => {
  it('has grant_type in the query and both credentials in the form', () => {
    const { url, method, headers, body } = buildTokenRequest(platform)
    expect(url.href).toBe(
      'https://auth.example.com/oauth/client_credential/accesstoken?grant_type=client_credentials',
    )
    expect(method).toBe('POST')
    expect(headers).toEqual({
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(body).toBe('client_id=client&client_secret=secret')
  })

  it.each([
    ['https://auth.example.com/', '/oauth/client_credential/accesstoken'],
    ['https://auth.example.com//', '/oauth/client_credential/accesstoken'],
    ['https://auth.example.com/base', '/base/oauth/client_credential/accesstoken'],
    ['https://auth.example.com/base/v1/', '/base/v1/oauth/client_credential/accesstoken'],
  ])('keeps the path of %s', (authUrl, path) => {
    expect(buildTokenRequest({ ...platform, authUrl }).url.pathname).toBe(path)
    expect(buildTokenRequest({ ...platform, authUrl: new URL(authUrl) }).url.pathname).toBe(path)
  })
})

describe('any other token endpoint’s request', () => {
  it('has grant_type in the form body', () => {
    expect(buildTokenRequest(standard).url.href).toBe('https://auth.example.com/token')
    expect(formOf(standard)).toEqual([
      ['grant_type', 'client_credentials'],
      ['client_id', 'client'],
      ['client_secret', 'secret'],
    ])
  })

  it('keeps the URL unchanged, query included', () => {
    const tokenEndpoint = 'https://auth.example.com/t/?tenant=a%20b'
    expect(buildTokenRequest({ ...standard, tokenEndpoint }).url.href).toBe(tokenEndpoint)
  })

  it('contains scope, audience, resource and extra parameters', () => {
    const form = formOf({
      ...standard,
      scope: ['read', 'write'],
      audience: 'https://api.example.com',
      resource: ['https://a.example.com', 'https://b.example.com'],
      parameters: { tenant: 'a & b=c', empty: '' },
    })
    expect(form.slice(1, -2)).toEqual([
      ['scope', 'read write'],
      ['audience', 'https://api.example.com'],
      ['resource', 'https://a.example.com'],
      ['resource', 'https://b.example.com'],
      ['tenant', 'a & b=c'],
      ['empty', ''],
    ])
    expect(formOf({ ...standard, scope: 'read write', resource: 'urn:x' }).slice(1, -2)).toEqual([
      ['scope', 'read write'],
      ['resource', 'urn:x'],
    ])
  })

  it('omits empty and undefined parameters', () => {
    const nothing = { scope: '', audience: undefined, resource: undefined, parameters: undefined }
    expect(formOf({ ...standard, ...nothing })).toHaveLength(3)
    expect(formOf({ ...standard, scope: [], resource: [] })).toHaveLength(3)
  })
})

describe('credentials', () => {
  const odd = { clientId: 'a:b c+d/é', clientSecret: 'p%:&=+ ~*-._ü😀' }

  it('in the form are decoded to the same values', () => {
    const form = new URLSearchParams(buildTokenRequest({ ...standard, ...odd }).body)
    expect(form.get('client_id')).toBe(odd.clientId)
    expect(form.get('client_secret')).toBe(odd.clientSecret)
  })

  it('in the header are form-encoded before Base64 (RFC 6749, section 2.3.1)', () => {
    const { headers, body } = buildTokenRequest({
      ...standard,
      ...odd,
      clientAuthentication: 'client_secret_basic',
    })
    const [scheme, encoded] = headers['authorization']!.split(' ')
    const halves = atob(encoded!).split(':')
    expect(scheme).toBe('Basic')
    expect(halves).toHaveLength(2)
    const decode = (half = '') => new URLSearchParams(`x=${half}`).get('x')
    expect(halves.map(decode)).toEqual([odd.clientId, odd.clientSecret])
    expect(atob(encoded!)).toMatch(/^[\w*.%+-]+:[\w*.%+-]+$/)
    expect(body).toBe('grant_type=client_credentials')
  })

  it('without special characters are the same with and without decoding', () => {
    const plain = { clientId: 'Client-1.a_b*', clientSecret: 'Secret-1.a_b*' }
    const { headers } = buildTokenRequest({
      ...standard,
      ...plain,
      clientAuthentication: 'client_secret_basic',
    })
    expect(headers['authorization']).toBe(`Basic ${btoa(`${plain.clientId}:${plain.clientSecret}`)}`)
  })

  it.each(['clientId', 'clientSecret'])('are rejected if the %s is missing or cannot be sent', (name) => {
    for (const value of [undefined, null, '', 42]) {
      expect(() => buildTokenRequest({ ...standard, [name]: value })).toThrow(errorWith(name))
    }
    for (const value of ['secret\n', '\rsecret', 'sec\0ret', 'sec\u007fret', 'sec\tret']) {
      expect(() => buildTokenRequest({ ...standard, [name]: value })).toThrow(errorWith(name))
    }
  })

  it('without a secret are the client ID alone', () => {
    const { clientSecret: _none, ...options } = standard
    expect(formOf({ ...options, clientAuthentication: 'none' })).toEqual([
      ['grant_type', 'client_credentials'],
      ['client_id', 'client'],
    ])
  })

  it('cannot be sent in any other way', () => {
    const options = { ...standard, clientAuthentication: 'header' as never }
    expect(() => buildTokenRequest(options)).toThrow(
      errorWith("'client_secret_post', 'client_secret_basic', 'none'"),
    )
  })
})

describe('a URL', () => {
  it('is either authUrl or tokenEndpoint', () => {
    expect(() => buildTokenRequest(credentials)).toThrow(errorWith('authUrl is missing'))
    expect(() => buildTokenRequest({ ...platform, tokenEndpoint: 'https://auth.example.com/token' })).toThrow(
      errorWith('authUrl and tokenEndpoint'),
    )
    expect(() => buildTokenRequest({ ...credentials, authUrl: undefined, tokenEndpoint: undefined })).toThrow(
      errorWith('authUrl is missing'),
    )
  })

  it.each([
    'http://auth.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://127.0.0.1@auth.example.com',
    'http://[::2]',
    'http://[::ffff:127.0.0.1]',
    'http://0.0.0.0',
    'http://10.0.0.1',
    'http://128.0.0.1',
    'ftp://localhost',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'ws://localhost',
    '//auth.example.com',
    '/token',
    'auth.example.com',
    '',
    ' ',
    'https://',
  ])('such as %j is rejected', (address) => {
    expect(() => buildTokenRequest({ ...platform, authUrl: address })).toThrow(errorWith('authUrl'))
    expect(() => buildTokenRequest({ ...standard, tokenEndpoint: address })).toThrow(
      errorWith('tokenEndpoint'),
    )
  })

  it.each(['localhost:8080', 'auth.example.com', 'ftp://auth.example.com', 'xhttps://auth.example.com'])(
    'such as %j requires a scheme for HTTP',
    (authUrl) => {
      expect(() => buildTokenRequest({ ...platform, authUrl })).toThrow(
        'authUrl is not a valid URL. Include the scheme, as in https://auth.example.com.',
      )
    },
  )

  it.each([
    'https://auth.example.com',
    'HTTPS://AUTH.EXAMPLE.COM',
    'http://localhost:8080',
    'http://127.0.0.1',
    'http://127.8.9.10:1',
    'http://0x7f.1',
    'http://2130706433',
    'http://[::1]:8080',
  ])('such as %j is accepted', (tokenEndpoint) => {
    expect(buildTokenRequest({ ...standard, tokenEndpoint }).method).toBe('POST')
  })

  it('may use plain HTTP with allowInsecureRequests, but no other scheme', () => {
    const insecure = { ...credentials, allowInsecureRequests: true }
    expect(buildTokenRequest({ ...insecure, tokenEndpoint: 'http://auth.intranet/token' }).url.host).toBe(
      'auth.intranet',
    )
    expect(() => buildTokenRequest({ ...insecure, tokenEndpoint: 'ftp://auth.intranet' })).toThrow(
      errorWith('tokenEndpoint'),
    )
  })

  it.each([
    'https://user@auth.example.com',
    'https://user:password@auth.example.com',
    'https://auth.example.com/#fragment',
  ])('must not contain a user name, password or fragment: %s', (address) => {
    expect(() => buildTokenRequest({ ...standard, tokenEndpoint: address })).toThrow(
      errorWith('tokenEndpoint'),
    )
  })

  it('of the platform must not contain a query', () => {
    expect(() => buildTokenRequest({ ...platform, authUrl: 'https://auth.example.com/?a=b' })).toThrow(
      errorWith('authUrl'),
    )
  })
})

describe('parameters', () => {
  it.each([
    'grant_type',
    'client_id',
    'client_secret',
    'client_assertion',
    'client_assertion_type',
    'scope',
    'audience',
    'resource',
  ])('must not contain %s', (name) => {
    expect(() => buildTokenRequest({ ...standard, parameters: { [name]: 'x' } })).toThrow(errorWith(name))
  })

  it('cannot inject a second parameter', () => {
    const form = formOf({ ...standard, parameters: { 'a=1&grant_type': 'x&grant_type=password' } })
    expect(form.filter(([name]) => name === 'grant_type')).toEqual([['grant_type', 'client_credentials']])
  })
})

describe('a value that is not a text', () => {
  const build = (options: object) =>
    new URLSearchParams(
      buildTokenRequest({
        tokenEndpoint: 'https://auth.example.com/token',
        clientId: 'a',
        clientSecret: 'b',
        ...options,
      }).body,
    )

  it('is left out if it is undefined or null', () => {
    const form = build({
      parameters: { tenant: undefined, region: null },
      audience: [undefined],
      resource: [''],
    })
    expect([...form.keys()]).toEqual(['grant_type', 'client_id', 'client_secret'])
    const { headers } = buildTokenRequest({
      tokenEndpoint: 'https://auth.example.com/token',
      clientId: 'a',
      clientSecret: 'b',
      headers: { 'x-key': undefined },
    })
    expect(headers).not.toHaveProperty('x-key')
  })

  it('is sent as text if it is a number or a boolean', () => {
    const form = build({ parameters: { version: 2, zero: 0, beta: false } })
    expect([form.get('version'), form.get('zero'), form.get('beta')]).toEqual(['2', '0', 'false'])
  })

  it.each([[['a', 'b']], [{}], [() => 'a'], [Number.NaN], [Symbol('a')]])('is rejected: %o', (tenant) => {
    expect(() => build({ parameters: { tenant } })).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: 'parameters.tenant must be a string, a number or a boolean.',
      }),
    )
  })

  it('is repeated for several audiences and resources alone (RFC 8693, section 2.1; RFC 8707)', () => {
    const form = build({ audience: ['a', 'b'], resource: ['https://c.example', 'https://d.example'] })
    expect(form.getAll('audience')).toEqual(['a', 'b'])
    expect(form.getAll('resource')).toEqual(['https://c.example', 'https://d.example'])
  })
})

describe('an empty client secret', () => {
  const options = { tokenEndpoint: 'https://auth.example.com/token', clientId: 'a', clientSecret: '' }

  it('is sent with HTTP Basic (RFC 6749, section 2.3.1)', () => {
    const { headers } = buildTokenRequest({ ...options, clientAuthentication: 'client_secret_basic' })
    expect(headers['authorization']).toBe(`Basic ${btoa('a:')}`)
    expect(() => clientCredentials({ ...options, clientAuthentication: 'client_secret_basic' })).not.toThrow()
  })

  it('is rejected in the form, where it is more likely a variable that is not set', () => {
    expect(() => buildTokenRequest(options)).toThrow('clientSecret is missing.')
    expect(() => clientCredentials(options)).toThrow('clientSecret is missing.')
    const missing = {
      ...options,
      clientSecret: undefined,
      clientAuthentication: 'client_secret_basic',
    } as const
    expect(() => clientCredentials(missing)).toThrow('clientSecret is missing.')
  })
})

describe('building a request', () => {
  it('does not change its arguments and returns a new request each time', () => {
    const url = Object.freeze(new URL('https://auth.example.com/base'))
    const options: Options = Object.freeze({ ...credentials, authUrl: url, scope: Object.freeze(['b', 'a']) })
    const [first, second] = [buildTokenRequest(options), buildTokenRequest(options)]
    expect(url.href).toBe('https://auth.example.com/base')
    expect(first).toEqual(second)
    first.url.pathname = '/changed'
    first.headers['x'] = 'y'
    expect(buildTokenRequest(options)).toEqual(second)
  })

  it('validates the options of clientCredentials in the same way, before anything is sent', () => {
    const wrong: Partial<ClientCredentialsOptions>[] = [
      { tokenEndpoint: undefined },
      { tokenEndpoint: 'http://auth.example.com' },
      { clientId: '' },
      { clientSecret: '' },
      { clientAuthentication: 'header' as never },
      { parameters: { scope: 'x' } },
    ]
    for (const options of wrong) {
      expect(() => clientCredentials({ ...standard, ...options })).toThrow(errorWith(/./))
    }
  })
})

it.each<[Parameters<typeof headerValue>[0], string | undefined]>([
  [new Headers({ 'Retry-After': '7' }), '7'],
  [new Headers(), undefined],
  [{ 'Retry-After': '7' }, '7'],
  [{ 'retry-after': 7 as never }, '7'],
  [{ 'retry-after': undefined, 'Retry-After': '7' }, '7'],
  [{ 'retry-after': undefined }, undefined],
  [{ 'retry-after': null as never }, undefined],
])('reads the value of a header: %j', (headers, value) => {
  expect(headerValue(headers, 'retry-after')).toBe(value)
})
