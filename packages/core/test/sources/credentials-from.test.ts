import { clientCredentials, createTokenFetch, credentialsFrom } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'

describe('credentialsFrom', () => {
  it('reads a token service, a client ID and a secret', () => {
    const client = { CLIENT_ID: 'id', CLIENT_SECRET: 'secret' }
    const expected = { clientId: 'id', clientSecret: 'secret' }
    const url = 'https://auth.example.com'
    expect(credentialsFrom({ AUTH_URL: url, ...client })).toStrictEqual({ authUrl: url, ...expected })
    expect(credentialsFrom({ TOKEN_ENDPOINT: url, ...client })).toStrictEqual({
      tokenEndpoint: url,
      ...expected,
    })
    expect(credentialsFrom({ ISSUER: url, ...client, AUTH_URL: '' })).toStrictEqual({
      issuer: url,
      ...expected,
    })
  })

  it('reads the names of the platform', () => {
    expect(
      credentialsFrom({ AUTH_URL: 'https://a.example', CONSUMER_KEY: 'key', CONSUMER_SECRET: 'secret' }),
    ).toStrictEqual({ authUrl: 'https://a.example', clientId: 'key', clientSecret: 'secret' })
  })

  it('reads names with a prefix, by a function too', () => {
    const values = new Map([
      ['BILLING_ISSUER', 'https://issuer.example'],
      ['BILLING_CLIENT_ID', 'billing'],
      ['BILLING_CLIENT_SECRET', 'secret'],
      ['CLIENT_ID', 'other'],
    ])
    expect(credentialsFrom((name: string) => values.get(name), { prefix: 'BILLING_' })).toStrictEqual({
      issuer: 'https://issuer.example',
      clientId: 'billing',
      clientSecret: 'secret',
    })
  })

  it('reads the URL of a token service that several clients share', () => {
    const env = { AUTH_URL: 'https://a.example', PAGE_CLIENT_ID: 'page', PAGE_CLIENT_SECRET: 'secret' }
    const page = { clientId: 'page', clientSecret: 'secret' }
    expect(credentialsFrom(env, { prefix: 'PAGE_' })).toStrictEqual({ authUrl: 'https://a.example', ...page })
    const own = { ...env, PAGE_ISSUER: 'https://b.example' }
    expect(credentialsFrom(own, { prefix: 'PAGE_' })).toStrictEqual({ issuer: 'https://b.example', ...page })
  })

  it('reads no secret for a client that authenticates without one', () => {
    const env = { ISSUER: 'https://issuer.example', CLIENT_ID: 'id', CLIENT_SECRET: 'unused' }
    expect(credentialsFrom(env, { secret: false })).toStrictEqual({
      issuer: 'https://issuer.example',
      clientId: 'id',
    })
  })

  const platformClient = { CONSUMER_KEY: 'platform', CONSUMER_SECRET: 's3cr3t' }

  it('takes both values from one pair of names', () => {
    const client = { CLIENT_ID: 'own', CLIENT_SECRET: 'own-secret' }
    expect(credentialsFrom({ AUTH_URL: 'https://a.example', ...client, ...platformClient })).toStrictEqual({
      authUrl: 'https://a.example',
      clientId: 'own',
      clientSecret: 'own-secret',
    })
  })

  it.each([
    [
      { ISSUER: 'https://a.example', CLIENT_ID: 'partner', ...platformClient },
      {},
      'CLIENT_SECRET is not set in the environment.',
    ],
    [
      { AUTH_URL: 'https://a.example', CLIENT_SECRET: 'partner', ...platformClient },
      {},
      'CLIENT_ID is not set in the environment.',
    ],
    [
      { TOKEN_ENDPOINT: 'https://a.example/token', ...platformClient },
      {},
      'CLIENT_ID and CLIENT_SECRET are not set in the environment. ' +
        'CONSUMER_KEY and CONSUMER_SECRET are read with AUTH_URL only.',
    ],
    [
      { ISSUER: 'https://a.example', CONSUMER_KEY: 'platform', B_CLIENT_ID: 'b', B_CLIENT_SECRET: 's3cr3t' },
      { prefix: 'B_' },
      'B_AUTH_URL (or B_TOKEN_ENDPOINT or B_ISSUER) is not set in the environment. ' +
        'ISSUER without a prefix is not used, because CONSUMER_KEY is set there for another client.',
    ],
  ])('never mixes the values of two clients, as in %j', (env, options, message) => {
    expect(() => credentialsFrom(env, options)).toThrow(
      expect.objectContaining({ kind: 'configuration', message }) as Error,
    )
  })

  it.each([
    [
      {},
      {},
      'AUTH_URL (or TOKEN_ENDPOINT or ISSUER), CLIENT_ID and CLIENT_SECRET are not set in the environment.',
    ],
    [{ ISSUER: 'https://a.example', CLIENT_ID: 'id' }, {}, 'CLIENT_SECRET is not set in the environment.'],
    [{ ISSUER: 'https://a.example' }, { secret: false }, 'CLIENT_ID is not set in the environment.'],
    [
      { X_AUTH_URL: 'auth.example', X_CLIENT_ID: '' },
      { prefix: 'X_' },
      'X_CLIENT_ID and X_CLIENT_SECRET are not set in the environment. ' +
        'X_AUTH_URL is not a valid URL. Include the scheme, as in https://auth.example.com.',
    ],
    [
      {
        AUTH_URL: 'https://a.example',
        ISSUER: 'https://b.example',
        CLIENT_ID: 'id',
        CLIENT_SECRET: 's3cr3t',
      },
      {},
      'AUTH_URL and ISSUER are mutually exclusive.',
    ],
  ])('names everything that is missing or invalid in %j', (env, options, message) => {
    expect(() => credentialsFrom(env, options)).toThrow(
      expect.objectContaining({ kind: 'configuration', message }) as Error,
    )
  })

  it.each([
    [{ ISSUER: 'https://a.example', CLIENT_ID: 'id', ASSERTION_FILE: '/token' }, {}, 'ASSERTION_FILE is'],
    [
      { ISSUER: 'https://a.example', B_CLIENT_ID: 'id', B_IDENTITY: 'gcp', B_CLIENT_SECRET_FILE: '/secret' },
      { prefix: 'B_' },
      'B_CLIENT_SECRET_FILE and B_IDENTITY are',
    ],
  ])('names the package that reads other ways to authenticate in %j', (env, options, names) => {
    expect(() => credentialsFrom(env, options)).toThrow(
      `CLIENT_SECRET is not set in the environment. ${names} read by clientAuthenticationFrom of ` +
        '@tokenwell/client-authentication: pass { ...credentialsFrom(env, { secret: false }), ...clientAuthenticationFrom(env) }.',
    )
    expect(credentialsFrom(env, { ...options, secret: false }).clientId).toBe('id')
  })

  it('is what clientCredentials takes', () => {
    const env = { AUTH_URL: 'https://auth.example.com', CLIENT_ID: 'id', CLIENT_SECRET: 'secret' }
    expect(JSON.stringify(clientCredentials(credentialsFrom(env)))).toContain('"clientId":"id"')
  })
})

describe('clientCredentials', () => {
  it.each([
    [{}, 'authUrl (or tokenEndpoint or issuer), clientId and clientSecret are missing.'],
    [{ authUrl: 'https://a.example', clientId: '' }, 'clientId and clientSecret are missing.'],
    [
      { clientId: 'id', clientSecret: '' },
      'authUrl (or tokenEndpoint or issuer) and clientSecret are missing.',
    ],
    [{ clientAuthentication: 'none' }, 'authUrl (or tokenEndpoint or issuer) and clientId are missing.'],
    [{ authUrl: 'https://a.example', clientId: 'id' }, 'clientSecret is missing.'],
  ])('names all options that are missing in %j', (options, message) => {
    expect(() => clientCredentials(options as never)).toThrow(message)
  })
})

describe('createTokenFetch', () => {
  it.each([undefined, null, 'a token', {}])('names a missing provider instead of %j', (tokens) => {
    expect(() => createTokenFetch(tokens as never, { baseUrl: 'https://api.example.com' })).toThrow(
      'A token provider is missing. Pass clientCredentials({ … })',
    )
  })

  it('says how a source becomes a provider', () => {
    const source = { cacheKey: async () => 'own', requestToken: async () => ({}) }
    expect(() => createTokenFetch(source as never, { baseUrl: 'https://api.example.com' })).toThrow(
      'pass createTokenProvider(source)',
    )
  })
})
