import { describe, expect, test } from 'vitest'
import { fromOpenApi } from '@tokenwell/core'

const flow = (tokenUrl?: string) => ({
  type: 'oauth2',
  flows: {
    clientCredentials: { ...(tokenUrl && { tokenUrl }), scopes: { 'orders:read': '', 'orders:write': '' } },
  },
})

interface Parts {
  readonly schemes?: object
  readonly servers?: readonly object[]
  readonly security?: readonly object[]
  readonly paths?: object
}

function documentOf({ schemes = { oauth: flow('https://api.example.com/token') }, ...rest }: Parts = {}) {
  return {
    openapi: '3.1.0',
    servers: [{ url: 'https://api.example.com/v1/' }],
    components: { securitySchemes: schemes },
    ...rest,
  }
}

describe('reads', () => {
  test('the token endpoint and the server', () => {
    expect(fromOpenApi(documentOf())).toEqual({
      tokenEndpoint: 'https://api.example.com/token',
      baseUrl: 'https://api.example.com/v1',
    })
  })

  test('the scopes that the operations need, each once', () => {
    const document = documentOf({
      security: [{ oauth: ['orders:read'] }],
      paths: {
        '/orders': {
          parameters: [],
          get: {},
          post: { security: [{ oauth: ['orders:write', 'orders:read'] }, { key: ['other'] }] },
        },
        '/health': { get: { security: [] } },
      },
    })
    expect(fromOpenApi(document).scope).toBe('orders:read orders:write')
    expect(fromOpenApi(documentOf({ security: [{ oauth: ['orders:read'] }] })).scope).toBe('orders:read')
  })

  test('relative URLs, from the URL of the document', () => {
    const document = documentOf({ servers: [{ url: '/v2' }], schemes: { oauth: flow('/oauth/token?a=b') } })
    expect(fromOpenApi(document, { base: 'https://example.org/docs/openapi.json' })).toEqual({
      tokenEndpoint: 'https://example.org/oauth/token?a=b',
      baseUrl: 'https://example.org/v2',
    })
    const { servers: _, ...withoutServers } = document
    expect(fromOpenApi(withoutServers, { base: new URL('https://example.org/docs/') }).baseUrl).toBe(
      'https://example.org',
    )
  })

  test('the server that is named, and the defaults of its variables', () => {
    const servers = [
      { url: 'https://api.example.com' },
      {
        url: 'https://{region}.example.com/{v}',
        variables: { region: { default: 'eu' }, v: { default: 'v3' } },
      },
    ]
    const document = documentOf({ servers, schemes: { oauth: flow('/token') } })
    expect(fromOpenApi(document, { server: 'https://eu.example.com/v3' })).toEqual({
      tokenEndpoint: 'https://eu.example.com/token',
      baseUrl: 'https://eu.example.com/v3',
    })
    expect(() => fromOpenApi(document, { server: 'https://other.example.com' })).toThrow(
      'The OpenAPI document has no server "https://other.example.com", only https://api.example.com and https://eu.example.com/v3.',
    )
  })

  test('the scheme that is named', () => {
    const document = documentOf({
      schemes: { one: flow('https://api.example.com/1'), two: flow('https://api.example.com/2') },
    })
    expect(fromOpenApi(document, { scheme: 'two' }).tokenEndpoint).toBe('https://api.example.com/2')
    expect(() => fromOpenApi(document)).toThrow(
      'The OpenAPI document has several security schemes. Set scheme to one of "one" and "two".',
    )
    expect(() => fromOpenApi(document, { scheme: 'three' })).toThrow('Set scheme to one of "one" and "two".')
  })
})

describe('rejects', () => {
  const foreign = documentOf({ schemes: { oauth: flow('https://login.example.net/token?p=1') } })

  test('a token endpoint of another origin, unless it is named', () => {
    const error = expect.objectContaining({
      name: 'TokenError',
      kind: 'configuration',
      message:
        'The OpenAPI document has a token endpoint of another origin than its server https://api.example.com: https://login.example.net/token?p=1. If your client secret may be sent there, add it to allowedTokenEndpoints.',
    })
    expect(() => fromOpenApi(foreign)).toThrow(error)
    for (const other of [
      'https://login.example.net',
      'https://login.example.net.evil.org/token',
      'https://login.example.net/token?p=2',
      'login',
    ])
      expect(() => fromOpenApi(foreign, { allowedTokenEndpoints: [other] })).toThrow(error)
    for (const allowed of ['https://login.example.net/token', new URL('https://login.example.net/token?p=1')])
      expect(fromOpenApi(foreign, { allowedTokenEndpoints: [allowed] }).tokenEndpoint).toBe(
        'https://login.example.net/token?p=1',
      )
  })

  test('a token endpoint at the origin of another server than the chosen one', () => {
    const servers = [{ url: 'https://sandbox.example.com' }, { url: 'https://api.example.com' }]
    expect(() => fromOpenApi(documentOf({ servers }))).toThrow(
      'another origin than its server https://sandbox.example.com',
    )
  })

  test('a token endpoint whose server is not known', () => {
    const document = documentOf({ servers: [{ url: '/v1' }] })
    expect(() => fromOpenApi(document)).toThrow(
      'has a token endpoint of no known server: https://api.example.com/token.',
    )
    expect(fromOpenApi(document, { allowedTokenEndpoints: ['https://api.example.com/token'] })).toEqual({
      tokenEndpoint: 'https://api.example.com/token',
    })
  })

  test.each<[string, object, string]>([
    ['no scheme', documentOf({ schemes: {} }), 'has no security scheme with the flow clientCredentials.'],
    [
      'other flows and types',
      documentOf({
        schemes: {
          login: { type: 'oauth2', flows: { authorizationCode: {}, implicit: {} } },
          key: { type: 'apiKey' },
        },
      }),
      'has no security scheme with the flow clientCredentials, only "login" (authorizationCode, implicit) and "key" (apiKey).',
    ],
    [
      'a scheme without a URL',
      documentOf({ schemes: { oauth: flow() } }),
      'has no tokenUrl in its security scheme "oauth".',
    ],
    [
      'a relative URL without a base',
      documentOf({ servers: [{ url: '/v1' }], schemes: { oauth: flow('/token') } }),
      'has the relative tokenUrl "/token". Set base to the URL of the document.',
    ],
    ['Swagger 2', { swagger: '2.0' }, 'is not one of OpenAPI 3. Convert it.'],
    ['something else', [], 'is not one of OpenAPI 3. Convert it.'],
  ])('%s', (_, document, message) => {
    expect(() => fromOpenApi(document)).toThrow(`The OpenAPI document ${message}`)
  })
})
