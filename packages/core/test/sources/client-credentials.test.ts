import { Readable } from 'node:stream'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  clientAssertion,
  clientCredentials,
  TokenError,
  type ClientCredentialsOptions,
} from '@tokenwell/core'
import { createGrantSource } from '@tokenwell/core/adapter'
import { ScriptedEndpoint, wrongSecret } from '../support/scripted-endpoint.ts'

const standard = {
  tokenEndpoint: 'https://auth.example.com/token',
  clientId: 'client',
  clientSecret: 'secret',
}
const keyOf = (options: Partial<ClientCredentialsOptions> = {}) =>
  createGrantSource({ ...standard, ...options }).cacheKey()

afterEach(() => vi.unstubAllGlobals())

describe('the cache key', () => {
  it('is a digest, and the same for equal options', async () => {
    const key = await keyOf({ scope: ['a', 'b'], resource: ['x', 'y'], parameters: { c: '1', d: '2' } })
    expect(key).toMatch(/^[\w-]{32,}$/)
    expect(key).not.toContain('secret')
    for (const scope of ['b a', 'a b a', [' b', 'a '], ['a b']]) {
      const same = { scope, resource: ['y', 'x'], parameters: { d: '2', c: '1' } }
      expect(await keyOf(same)).toBe(key)
    }
    expect(await keyOf({ scope: '' })).toBe(await keyOf())
    expect(await keyOf({ expiresInUnit: 'seconds', clientAuthentication: 'client_secret_post' })).toBe(
      await keyOf(),
    )
    expect(await keyOf({ tokenEndpoint: new URL(standard.tokenEndpoint) })).toBe(await keyOf())
    expect(await keyOf({ clientSecret: () => Promise.resolve('secret') })).toBe(await keyOf())
  })

  it('differs for every option that may change the token', async () => {
    const changes: Partial<ClientCredentialsOptions>[] = [
      {},
      { tokenEndpoint: 'https://auth.example.com/token/' },
      { tokenEndpoint: 'https://auth.example.com/token?tenant=a' },
      { tokenEndpoint: undefined, authUrl: 'https://auth.example.com' },
      { clientId: 'another' },
      { clientSecret: 'another' },
      { clientAuthentication: 'client_secret_basic' },
      { scope: 'a' },
      { scope: 'a b' },
      { scope: 'ab' },
      { audience: 'a' },
      { resource: 'a' },
      { resource: ['a', 'b'] },
      { parameters: { a: 'b' } },
      { parameters: { a: 'b,c' } },
      { parameters: { 'a,b': 'c' } },
      { expiresInUnit: 'milliseconds' },
    ]
    const keys = await Promise.all(changes.map(keyOf))
    expect(new Set(keys).size).toBe(changes.length)
  })

  // Processes with other versions of the package share the store: a change splits a fleet during its upgrade.
  it.each<[Partial<ClientCredentialsOptions>, string]>([
    [{}, '7bb8d11735aad39284acfbee48f95a7314e2cd029221ab50eb8b215d9c2844db'],
    [
      { tokenEndpoint: undefined, authUrl: 'https://auth.example.com' },
      'b11548305551c395120c261003c385c32135c469a1c8d12c37c8973e9826cfc0',
    ],
    [
      { clientAuthentication: 'client_secret_basic' },
      'cd7b3a2639e02cadb1f7f92b8331d5ab6099c8564faa8cecb733d56fd5752139',
    ],
    [
      { clientAuthentication: 'none', clientSecret: undefined },
      'bd2a3f0f15898eeb5eeb08374fb086567f5cf4f757a0a4f7a4855f69f1935ce0',
    ],
    [
      { clientAuthentication: clientAssertion(() => 'jwt'), clientSecret: undefined },
      'aced439294337b8894799bab55a0b6305362f8ff95688ad95dd65c82fae965c4',
    ],
    [
      {
        scope: 'b a',
        audience: 'an-audience',
        resource: ['x', 'y'],
        parameters: { c: '1' },
        expiresInUnit: 'milliseconds',
      },
      '3e94a58e81896fde85f93613ccc4033472e81c04a64e9e858cdabf53c86131e7',
    ],
  ])('is the same in every version: %j', async (options, key) => {
    expect(await keyOf(options)).toBe(key)
  })

  it.each([[undefined], [{}]])('is reported as unavailable if crypto is %j', async (crypto) => {
    vi.stubGlobal('crypto', crypto)
    await expect(keyOf()).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining('WebCrypto') as string,
    })
  })
})

describe('client credentials', () => {
  it.each([
    'https://user@auth.example.com',
    'https://:password@auth.example.com',
    'https://auth.example.com#x',
  ])('are not sent to %s', (tokenEndpoint) => {
    expect(() => clientCredentials({ ...standard, tokenEndpoint })).toThrow(
      'tokenEndpoint must not contain a user name, password or fragment.',
    )
  })

  it('are accepted where a user agent alone looks like that of a browser', () => {
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0' })
    expect(() => clientCredentials(standard)).not.toThrow()
  })

  it('are rejected in a browser, where anyone can read them', () => {
    vi.stubGlobal('window', { document: {} })
    expect(() => clientCredentials(standard)).toThrow(
      expect.objectContaining({
        kind: 'configuration',
        message: expect.stringContaining('backendTokens') as string,
      }),
    )
    expect(() => clientCredentials({ ...standard, dangerouslyAllowBrowser: true })).not.toThrow()
  })

  it.each([[undefined], [{}], [{ document: undefined }]])('are accepted where window is %j', (window) => {
    vi.stubGlobal('window', window)
    expect(() => clientCredentials(standard)).not.toThrow()
  })

  it.each(['client_secret_post', 'client_secret_basic'] as const)(
    'require a secret that is sent by %s',
    (clientAuthentication) => {
      const options = { ...standard, clientSecret: undefined, clientAuthentication }
      expect(() => clientCredentials(options)).toThrow('clientSecret is missing.')
    },
  )

  it('fail with the error of a custom authentication, unchanged', async () => {
    const failure = new TokenError({ kind: 'configuration', message: 'The key cannot sign.' })
    const { clientSecret: _none, ...withoutSecret } = standard
    await expect(
      clientCredentials({
        ...withoutSecret,
        clientAuthentication: { authenticate: () => Promise.reject(failure), fingerprint: () => 'key' },
        maxAttempts: 1,
      }).getToken(),
    ).rejects.toMatchObject({
      kind: 'configuration',
      message: 'The key cannot sign.',
    })
  })

  it('let a custom authentication explain a response, and nothing else', async () => {
    const explain = vi.fn()
    const endpoint = new ScriptedEndpoint((request) =>
      request === 1 ? { error: new TypeError('fetch failed') } : { ...wrongSecret, headers: { date: 'now' } },
    )
    const clientAuthentication = { authenticate() {}, fingerprint: () => 'key', explain }
    const { fetch } = endpoint
    const tokens = clientCredentials({
      tokenEndpoint: standard.tokenEndpoint,
      clientId: 'client',
      clientAuthentication,
      fetch,
      maxAttempts: 1,
    })
    await expect(tokens.getToken()).rejects.toMatchObject({
      kind: 'unavailable',
      message: `Could not reach the token endpoint ${standard.tokenEndpoint} (TypeError: fetch failed).`,
    })
    expect(explain).not.toHaveBeenCalled()
    await expect(tokens.getToken({ forceRefresh: true })).rejects.toMatchObject({ kind: 'credentials' })
    const [error, headers] = explain.mock.calls[0] as [TokenError, Headers]
    expect([error.kind, headers.get('date')]).toEqual(['credentials', 'now'])
  })

  it('use the global fetch at the time of the request', async () => {
    const tokens = clientCredentials(standard)
    const endpoint = new ScriptedEndpoint()
    vi.stubGlobal('fetch', endpoint.fetch)
    await tokens.getToken()
    expect(endpoint.requests).toHaveLength(1)
  })

  it('send a POST that follows no redirect and can be aborted', async () => {
    const send = vi.fn(new ScriptedEndpoint().fetch)
    await clientCredentials({ ...standard, fetch: send }).getToken()
    const [url, init] = send.mock.calls[0]!
    expect(String(url as URL)).toBe(standard.tokenEndpoint)
    expect(init).toMatchObject({
      method: 'POST',
      redirect: 'manual',
      signal: expect.any(AbortSignal) as AbortSignal,
    })
  })

  it.each([
    ['a fetch with a cache', undefined, true],
    ['a runtime that rejects the option', { Request: function Request() {} }, false],
    ['a runtime without a Request', { Request: undefined }, false],
  ])('request a response that is not cached: %s', async (_runtime, globals, expected) => {
    const send = vi.fn(() => Promise.resolve(new Response('{"access_token":"token"}')))
    for (const [name, value] of Object.entries(globals ?? {})) vi.stubGlobal(name, value)
    await clientCredentials({ ...standard, fetch: send }).getToken()
    const [, init] = send.mock.calls[0] as unknown as [URL, RequestInit]
    expect('cache' in init).toBe(expected)
    expect(init.cache).toBe(expected ? 'no-store' : undefined)
  })

  it.each(['Authorization', 'content-type', 'Content-Length', 'host', 'DPoP'])(
    'reject the header %s, which they set themselves',
    (name) => {
      expect(() => clientCredentials({ ...standard, headers: { [name]: 'x' } })).toThrow(
        `headers must not contain ${name}. It is set by Tokenwell.`,
      )
    },
  )

  it('send the headers of the options', async () => {
    const endpoint = new ScriptedEndpoint()
    const headers = { 'x-tenant': 'acme', 'x-authorization': 'key', 'host-name': 'one' }
    await clientCredentials({ ...standard, fetch: endpoint.fetch, headers }).getToken()
    expect(endpoint.requests[0]!.headers).toMatchObject(headers)
  })

  it.each([undefined, 'orders'])(
    'name the client in errors by its ID, and by the label %j',
    async (label) => {
      const { fetch } = new ScriptedEndpoint(wrongSecret)
      const tokens = clientCredentials({ ...standard, fetch, label })
      await expect(tokens.getToken()).rejects.toMatchObject({
        message: expect.stringContaining(`approval of "client"${label ? ` (${label})` : ''} at`) as string,
      })
    },
  )

  describe('that get a 401 without an OAuth error, as from an API,', () => {
    const bare = { status: 401, headers: { 'www-authenticate': 'Bearer realm="api"' }, body: '"no token"' }

    it('are reported as sent to a wrong URL', async () => {
      for (const server of [
        { authUrl: 'https://api.example.com' },
        { tokenEndpoint: 'https://api.example.com/t' },
      ]) {
        const { fetch } = new ScriptedEndpoint(bare)
        const tokens = clientCredentials({ ...server, clientId: 'client', clientSecret: 'secret', fetch })
        const path = server.authUrl ? '/oauth/client_credential/accesstoken' : '/t'
        await expect(tokens.getToken()).rejects.toMatchObject({
          kind: 'configuration',
          status: 401,
          message:
            `https://api.example.com${path} is not a token endpoint: it responded with status 401 and no OAuth error. ` +
            `Check the URL.${server.authUrl ? ' authUrl may be that of the API.' : ''}`,
        })
      }
    })

    it('are rejected if they were sent in a header, to which this is a response', async () => {
      const { fetch } = new ScriptedEndpoint({ status: 401, body: '' })
      const clientAuthentication = 'client_secret_basic'
      const tokens = clientCredentials({ ...standard, clientAuthentication, fetch })
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    })
  })

  it('give an error the headers that identify a response, and no others', async () => {
    const id = '5f2b1c9d8e7f4a3b9c0d1e2f3a4b5c6d'
    const { fetch } = new ScriptedEndpoint({
      ...wrongSecret,
      headers: {
        Date: 'Sun, 01 Mar 2026 12:00:00 GMT',
        'Retry-After': '7',
        'X-Request-Id': id,
        'X-Correlation-Id': 'for orders-key-7',
        'Cf-Ray': 'x'.repeat(101),
        'Set-Cookie': 'session=1',
      },
    })
    const tokens = clientCredentials({ ...standard, headers: { 'x-key': 'orders-key-7' }, fetch })
    const error: unknown = await tokens.getToken().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      status: 401,
      headers: { date: 'Sun, 01 Mar 2026 12:00:00 GMT', 'retry-after': '7', 'x-request-id': id },
    })
    expect(Object.keys((error as TokenError).headers!)).toHaveLength(3)
  })

  it('are shown with their endpoint and client ID, and without their secret', () => {
    expect(JSON.parse(JSON.stringify(createGrantSource(standard)))).toEqual({
      tokenEndpoint: standard.tokenEndpoint,
      clientId: 'client',
    })
  })

  it('name an option without a value', () => {
    expect(() => clientCredentials({ ...standard, clientId: '' })).toThrow('clientId is missing.')
  })

  it('have the client ID as their label, unless it is a function', () => {
    expect(createGrantSource(standard).label).toBe('client')
    expect(createGrantSource({ ...standard, clientId: () => 'client' }).label).toBeUndefined()
  })

  it('copy their options', async () => {
    const endpoint = new ScriptedEndpoint()
    const options = { ...standard, fetch: endpoint.fetch, scope: ['a'] }
    const tokens = clientCredentials(options)
    options.clientId = 'another'
    options.tokenEndpoint = 'https://evil.example.com'
    await tokens.getToken()
    expect(endpoint.requests[0]).toMatchObject({ url: standard.tokenEndpoint })
    expect(endpoint.requests[0]!.form.get('client_id')).toBe('client')
  })

  it.each([
    ['without streams', undefined],
    ['with a stream of Node', Readable.from([])],
  ])('read a response from a fetch %s', async (_name, body) => {
    const text = () => Promise.resolve(JSON.stringify({ access_token: 'token', token_type: 'Bearer' }))
    const response = { status: 200, headers: new Headers(), body, text } as unknown as Response
    const send = () => Promise.resolve(response)
    const tokens = clientCredentials({ ...standard, fetch: send })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token' })
  })
})

it('reports the assertion that was rejected, not that of another client of the same authentication', async () => {
  const reject = vi.fn()
  const getJwt = ({ clientId }: { clientId: string }) => `jwt-of-${clientId}`
  const clientAuthentication = clientAssertion(Object.assign(getJwt, { reject }))
  const shared = { tokenEndpoint: 'https://auth.example.com/token', clientAuthentication }
  const fetch = async () => Response.json({ access_token: 'token', expires_in: 600 })
  const other = clientCredentials({ ...shared, clientId: 'other', fetch })
  const rejected = clientCredentials({
    ...shared,
    clientId: 'rejected',
    async fetch() {
      await other.getToken()
      return Response.json({ error: 'invalid_client' }, { status: 401 })
    },
  })
  await expect(rejected.getToken()).rejects.toMatchObject({ kind: 'credentials' })
  expect(reject.mock.calls).toEqual([['jwt-of-rejected']])
})
