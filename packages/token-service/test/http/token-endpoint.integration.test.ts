import { describe, expect, it } from 'vitest'
import {
  application,
  basic,
  introspect,
  postForm,
  requestToken,
  testService,
  tokenPath,
} from '../test-service.ts'

describe('a token request', () => {
  it('returns the format with products: strings, except for the list', async () => {
    const now = 1_707_406_838_904
    const { authUrl } = await testService({ clock: { now: () => now } })
    const { status, headers, body } = await requestToken(authUrl)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('pragma')).toBe('no-cache')
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\da-z]{8}[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: '3600',
      issued_at: String(now),
      client_id: application.clientId,
      application_name: application.name,
      organization_name: 'example-org',
      developer_email: 'developer@example.com',
      status: 'approved',
      scope: '',
      refresh_token_expires_in: '0',
      refresh_count: '0',
      api_product_list: '[speech-to-text, sms]',
      api_product_list_json: ['speech-to-text', 'sms'],
    })
  })

  it('returns the format with level and refresh token if the application uses it', async () => {
    const { authUrl } = await testService({
      applications: [{ ...application, responseForm: 'refresh', lifetimeSeconds: 90 }],
    })
    const { body } = await requestToken(authUrl)
    expect(body).toMatchObject({ level: 'gold', refresh_token: '', expires_in: '90' })
    expect(body).not.toHaveProperty('api_product_list')
    expect(body).not.toHaveProperty('api_product_list_json')
  })

  it('returns a different token each time', async () => {
    const { authUrl } = await testService()
    const tokens = await Promise.all(Array.from({ length: 50 }, () => requestToken(authUrl)))
    expect(new Set(tokens.map(({ body }) => body.access_token)).size).toBe(50)
  })

  it('accepts Basic with form-encoded credentials', async () => {
    const odd = { ...application, clientId: 'a client', clientSecret: 'p+l:u%s&' }
    const { authUrl } = await testService({ applications: [odd] })
    const encoded = { clientId: 'a+client', clientSecret: encodeURIComponent(odd.clientSecret) }
    const response = await postForm(
      `${authUrl}${tokenPath}?grant_type=client_credentials`,
      {},
      basic(encoded),
    )
    expect(response.status).toBe(200)
  })

  it.each(['p+l us', '100%', '%zz', 'a%20b', '+/=:&', 'a:b:c'])(
    'accepts Basic with the secret %j as it is, as most clients send it',
    async (clientSecret) => {
      const odd = { ...application, clientId: 'a client+', clientSecret }
      const server = { clientId: 'api+%', clientSecret }
      const { authUrl } = await testService({ applications: [odd], resourceServers: [server] })
      const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
      const { status, body } = await postForm(url, {}, basic(odd))
      expect(status).toBe(200)
      const introspection = await postForm(
        `${authUrl}/oauth/introspect`,
        { token: body.access_token },
        basic(server),
      )
      expect(introspection.body).toMatchObject({ active: true })
      expect((await postForm(url, {}, basic({ ...odd, clientSecret: `${clientSecret}x` }))).status).toBe(401)
    },
  )

  it('needs neither body nor content type with Basic', async () => {
    const { authUrl } = await testService()
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    expect((await fetch(url, { method: 'POST', headers: basic(application) })).status).toBe(200)
  })

  it('accepts grant_type in the body too, with the same value', async () => {
    const { authUrl } = await testService()
    const form = { client_id: application.clientId, client_secret: application.clientSecret }
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    expect((await postForm(url, { ...form, grant_type: 'client_credentials' })).status).toBe(200)
    expect((await postForm(url, { ...form, grant_type: 'password' })).status).toBe(400)
  })
})

describe('a rejected token request', () => {
  const url = `${tokenPath}?grant_type=client_credentials`
  const good = `client_id=${application.clientId}&client_secret=${application.clientSecret}`

  it.each([
    ['a wrong secret', url, `client_id=${application.clientId}&client_secret=no`, 401, 'invalid_client'],
    ['an unknown client', url, 'client_id=no&client_secret=no', 401, 'invalid_client'],
    ['no client_id', url, 'client_secret=x', 400, 'invalid_request'],
    [
      'an empty client_secret',
      url,
      `client_id=${application.clientId}&client_secret=`,
      400,
      'invalid_request',
    ],
    ['a repeated client_id', url, `${good}&client_id=${application.clientId}`, 400, 'invalid_request'],
    ['no grant_type', tokenPath, good, 400, 'invalid_request'],
    ['a repeated grant_type', `${url}&grant_type=client_credentials`, good, 400, 'invalid_request'],
    ['another grant_type', `${tokenPath}?grant_type=password`, good, 400, 'unsupported_grant_type'],
    ['credentials in the query', `${url}&${good}`, good, 400, 'invalid_request'],
  ])('with %s gets the same status and code in both formats', async (_case, path, form, status, code) => {
    const platform = await testService()
    const standard = await testService({ format: 'standard' })
    const inPlatform = await postForm(platform.authUrl + path, form)
    const inStandard = await postForm(standard.authUrl + path, form)
    expect(inPlatform.status).toBe(status)
    expect(inStandard.status).toBe(status)
    expect(inPlatform.body).toEqual({ ErrorCode: code, Error: expect.any(String) })
    expect(inStandard.body).toEqual({ error: code, error_description: expect.any(String) })
    expect(inPlatform.headers.get('cache-control')).toBe('no-store')
  })

  it('gets the same response for an unknown client and a wrong secret', async () => {
    const { authUrl } = await testService()
    const unknown = await requestToken(authUrl, { ...application, clientId: 'nobody' })
    const wrong = await requestToken(authUrl, { ...application, clientSecret: 'wrong' })
    expect(unknown.body).toEqual(wrong.body)
    expect(unknown.body).toEqual({ ErrorCode: 'invalid_client', Error: 'ClientId is Invalid' })
    expect(unknown.headers.get('www-authenticate')).toBe('Basic realm="tokenwell"')
  })

  it('reports that the application is not approved only with the right secret', async () => {
    const { authUrl } = await testService({ applications: [{ ...application, status: 'pending' }] })
    expect((await requestToken(authUrl)).body.ErrorCode).toBe('unauthorized_client')
    const wrong = await requestToken(authUrl, { ...application, clientSecret: 'wrong' })
    expect(wrong.body.ErrorCode).toBe('invalid_client')
  })

  it('reports an expired secret only to a client that sends it', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const ending = { ...application, clientSecretExpiresAt: '2026-01-01T00:00:01Z' }
    const { authUrl } = await testService({ applications: [ending], clock: { now: () => now } })
    expect((await requestToken(authUrl)).status).toBe(200)
    now += 1000
    const { status, body } = await requestToken(authUrl)
    expect([status, body]).toEqual([
      401,
      { ErrorCode: 'invalid_client', Error: 'The client secret has expired' },
    ])
    const wrong = await requestToken(authUrl, { ...application, clientSecret: 'wrong' })
    expect(wrong.body.Error).toBe('ClientId is Invalid')
  })

  it('has status 400 in the format of RFC 6749 if the application is not approved', async () => {
    const pending = { ...application, status: 'pending' as const }
    const { authUrl } = await testService({ applications: [pending], format: 'standard' })
    const { status, body } = await requestToken(authUrl)
    expect([status, body.error]).toEqual([400, 'unauthorized_client'])
  })

  it('names the place for grant_type if it is only in the body', async () => {
    const { authUrl } = await testService()
    const { clientId: client_id, clientSecret: client_secret } = application
    const form = { grant_type: 'client_credentials', client_id, client_secret }
    const { status, body } = await postForm(`${authUrl}${tokenPath}`, form)
    expect([status, body.Error]).toEqual([400, 'grant_type must be sent in the query of the URL'])
  })

  it('gets status 415 with a JSON body, and 400 without a body', async () => {
    const { authUrl } = await testService()
    const json = await fetch(authUrl + url, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    const bare = await fetch(authUrl + url, { method: 'POST' })
    expect([json.status, bare.status]).toEqual([415, 400])
  })
})

const grantType = 'grant_type=client_credentials'

describe('with format: standard', () => {
  const form = {
    grant_type: 'client_credentials',
    client_id: application.clientId,
    client_secret: application.clientSecret,
  }

  it('accepts grant_type in the form, in the query, or in both', async () => {
    const { authUrl } = await testService({ format: 'standard' })
    const { grant_type: _, ...credentials } = form
    expect((await postForm(`${authUrl}${tokenPath}`, form)).status).toBe(200)
    expect((await postForm(`${authUrl}${tokenPath}?${grantType}`, form)).status).toBe(200)
    expect((await postForm(`${authUrl}${tokenPath}?${grantType}`, credentials)).status).toBe(200)
    const missing = await postForm(`${authUrl}${tokenPath}`, credentials)
    expect([missing.status, missing.body.error_description]).toEqual([
      400,
      'The request is missing a required parameter : grant_type',
    ])
    const other = await postForm(`${authUrl}${tokenPath}`, { ...form, grant_type: 'password' })
    expect([other.status, other.body.error]).toEqual([400, 'unsupported_grant_type'])
  })

  it('names the token endpoint without a query', async () => {
    const { authUrl } = await testService({ format: 'standard' })
    for (const path of ['/', '/.well-known/oauth-authorization-server']) {
      const { token_endpoint } = (await (await fetch(authUrl + path)).json()) as { token_endpoint: string }
      expect(token_endpoint).toBe(`${authUrl}${tokenPath}`)
    }
    const { paths } = (await (await fetch(`${authUrl}/openapi.json`)).json()) as {
      paths: Record<string, { post: { parameters: { required: boolean }[] } }>
    }
    expect(paths[tokenPath]?.post.parameters[0]?.required).toBe(false)
  })

  it('is not the default: the platform requires grant_type in the query', async () => {
    const { authUrl } = await testService()
    const { status, body } = await postForm(`${authUrl}${tokenPath}`, form)
    expect([status, body.Error]).toEqual([400, 'grant_type must be sent in the query of the URL'])
  })
})

describe('authorization_details', () => {
  it.each(['platform', 'standard'] as const)('are rejected, not ignored (format: %s)', async (format) => {
    const { authUrl } = await testService({ format })
    const { clientId, clientSecret } = application
    const form = { client_id: clientId, client_secret: clientSecret, authorization_details: '[{"type":"x"}]' }
    const { status, body } = await postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, form)
    expect([status, body.ErrorCode ?? body.error]).toEqual([400, 'invalid_authorization_details'])
  })
})

describe('scopes', () => {
  const scoped = { ...application, scopes: ['orders:read', 'orders:write'] }
  const issue = async (authUrl: string, form: Record<string, string> = {}) =>
    postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, {
      client_id: application.clientId,
      client_secret: application.clientSecret,
      ...form,
    })
  const introspected = async (authUrl: string, token: string) => (await introspect(authUrl, token)).body.scope

  it.each(['products', 'refresh', 'rfc6749'] as const)(
    'are granted in the format %s',
    async (responseForm) => {
      const { authUrl } = await testService({
        applications: [{ ...scoped, responseForm }],
      })
      const { body: all } = await issue(authUrl)
      expect(all.scope).toBe('orders:read orders:write')
      expect(await introspected(authUrl, all.access_token)).toBe('orders:read orders:write')
      const { body: narrow } = await issue(authUrl, { scope: ' orders:write  orders:write' })
      expect(narrow.scope).toBe('orders:write')
      expect(await introspected(authUrl, narrow.access_token)).toBe('orders:write')
      expect((await issue(authUrl, { scope: '' })).body.scope).toBe('orders:read orders:write')
    },
  )

  it.each(['unknown', 'orders:read unknown', 'ORDERS:READ', 'orders', 'orders:read,orders:write', '*'])(
    'rejects the scope %j with invalid_scope',
    async (scope) => {
      const { authUrl } = await testService({ applications: [scoped] })
      expect(await issue(authUrl, { scope })).toMatchObject({
        status: 400,
        body: { ErrorCode: 'invalid_scope', Error: expect.stringContaining('scope') },
      })
      const standard = await testService({ applications: [scoped], format: 'standard' })
      expect(await issue(standard.authUrl, { scope })).toMatchObject({
        status: 400,
        body: { error: 'invalid_scope' },
      })
    },
  )

  it('rejects one that is in the catalogue but was not granted', async () => {
    const { authUrl } = await testService({ applications: [scoped], scopes: ['admin'] })
    expect((await issue(authUrl, { scope: 'admin' })).body.ErrorCode).toBe('invalid_scope')
  })

  it('are not dropped without a word where the response does not state them', async () => {
    const { authUrl } = await testService({ applications: [{ ...application, responseForm: 'rfc6749' }] })
    expect(await issue(authUrl, { scope: 'orders:read' })).toMatchObject({ status: 400 })
    expect((await issue(authUrl)).body).not.toHaveProperty('scope')
    const platform = await testService()
    expect((await issue(platform.authUrl, { scope: 'orders:read' })).body.scope).toBe('')
  })

  it('are in the metadata, if there are any', async () => {
    const metadata = async (authUrl: string) =>
      (await fetch(`${authUrl}/.well-known/oauth-authorization-server`)).json()
    const { authUrl } = await testService({ applications: [scoped], scopes: ['admin'] })
    expect(await metadata(authUrl)).toMatchObject({
      scopes_supported: ['admin', 'orders:read', 'orders:write'],
    })
    expect(await metadata((await testService()).authUrl)).not.toHaveProperty('scopes_supported')
  })

  it.each(['two words', '"', '\\', 'ü', ''])('rejects the configured name %j', async (scope) => {
    await expect(testService({ applications: [{ ...application, scopes: [scope] }] })).rejects.toThrow(
      'must be 1 to 200 printable ASCII characters',
    )
  })
})
