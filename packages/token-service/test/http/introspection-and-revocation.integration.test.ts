import { describe, expect, it } from 'vitest'
import {
  serviceWithContext,
  application,
  basic,
  introspect,
  postForm,
  requestToken,
  resourceServer,
  testService,
} from '../test-service.ts'

describe('introspection', () => {
  it('reports the products of a token to a resource server', async () => {
    const now = 1_707_406_838_904
    const { authUrl } = await testService({ clock: { now: () => now } })
    const { body: token } = await requestToken(authUrl)
    const { status, headers, body } = await introspect(authUrl, token.access_token)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toEqual({
      active: true,
      client_id: application.clientId,
      sub: application.clientId,
      token_type: 'Bearer',
      scope: '',
      iat: 1_707_406_838,
      exp: 1_707_410_439,
      api_products: ['speech-to-text', 'sms'],
    })
  })

  it('leaves out products that are no longer approved', async () => {
    const { authUrl, context } = await serviceWithContext()
    const { body: token } = await requestToken(authUrl)
    const { applications } = context.storage
    const client = await applications.findClient(application.clientId)
    await applications.update(client?.application.id ?? '', { products: ['sms', 'billing'] })
    expect((await introspect(authUrl, token.access_token)).body.api_products).toEqual(['sms'])
  })

  it.each(['introspect', 'revoke'])('challenges a request without credentials (%s)', async (path) => {
    const { authUrl } = await testService()
    for (const form of [{}, { token: 'a token' }, { token: 'a token', client_id: resourceServer.clientId }]) {
      const { status, headers, body } = await postForm(`${authUrl}/oauth/${path}`, form)
      expect([status, body.error, headers.get('www-authenticate')]).toEqual([
        401,
        'invalid_client',
        'Basic realm="tokenwell"',
      ])
      expect(body.error_description).toBe('The request contains no client credentials')
    }
  })

  it('accepts credentials in the form', async () => {
    const { authUrl } = await testService()
    const { body: token } = await requestToken(authUrl)
    const response = await postForm(`${authUrl}/oauth/introspect`, {
      token: token.access_token,
      client_id: resourceServer.clientId,
      client_secret: resourceServer.clientSecret,
    })
    expect(response.body.active).toBe(true)
  })

  it('reports unknown and expired tokens as inactive only', async () => {
    let now = 1_000_000
    const { authUrl } = await testService({ clock: { now: () => now } })
    const { body: token } = await requestToken(authUrl)
    expect((await introspect(authUrl, 'unknown')).body).toEqual({ active: false })
    now += 3_599_999
    expect((await introspect(authUrl, token.access_token)).body.active).toBe(true)
    now += 1
    expect((await introspect(authUrl, token.access_token)).body).toEqual({ active: false })
  })

  it.each([4_096, 4_097, 16 * 1024])(
    'reports an unknown token of %i characters as inactive',
    async (length) => {
      const { authUrl } = await testService()
      const { status, body } = await introspect(authUrl, 'x'.repeat(length))
      expect({ status, body }).toEqual({ status: 200, body: { active: false } })
    },
  )

  it('is not available to other callers', async () => {
    const { authUrl } = await testService()
    const { body: token } = await requestToken(authUrl)
    const form = { token: token.access_token }
    const url = `${authUrl}/oauth/introspect`
    const asApplication = await postForm(url, form, basic(application))
    const wrongSecret = await postForm(url, form, basic({ ...resourceServer, clientSecret: 'wrong' }))
    expect(asApplication.status).toBe(401)
    expect(asApplication.body.error).toBe('invalid_client')
    expect(wrongSecret.status).toBe(401)
    expect((await postForm(url, form)).status).toBe(401)
  })
})

describe('revocation', () => {
  it('revokes a token at once, and accepts an unknown one', async () => {
    const { authUrl } = await testService()
    const { body: token } = await requestToken(authUrl)
    const form = { token: token.access_token }
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
    expect((await introspect(authUrl, token.access_token)).body).toEqual({ active: false })
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
  })

  it('accepts an unknown token of 16 KiB', async () => {
    const { authUrl } = await testService()
    const form = { token: 'x'.repeat(16 * 1024) }
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
  })

  it("does not revoke another client's token", async () => {
    const other = { ...application, clientId: 'other', clientSecret: 'other-secret-0123456789' }
    const { authUrl } = await testService({ applications: [application, other] })
    const { body: token } = await requestToken(authUrl)
    const response = await postForm(`${authUrl}/oauth/revoke`, { token: token.access_token }, basic(other))
    expect(response.status).toBe(400)
    expect(response.body.error).toBe('invalid_grant')
    expect((await introspect(authUrl, token.access_token)).body.active).toBe(true)
  })
})
