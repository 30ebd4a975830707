import { OAuth2Server, type MutableResponse } from 'oauth2-mock-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientCredentials, type ClientCredentialsOptions } from '@tokenwell/core'

describe('oauth2-mock-server', () => {
  const server = new OAuth2Server()
  beforeAll(async () => {
    await server.issuer.keys.generate('RS256')
    await server.start(0, '127.0.0.1')
  })
  afterAll(() => server.stop())

  const tokensOf = (options: Partial<ClientCredentialsOptions> = {}) =>
    clientCredentials({
      tokenEndpoint: `http://127.0.0.1:${server.address().port}/token`,
      clientId: 'client',
      clientSecret: 'secret',
      ...options,
    })
  const respondOnce = (change: (response: MutableResponse) => void) =>
    server.service.once('beforeResponse', change)

  it.each(['client_secret_post', 'client_secret_basic'] as const)(
    'issues a token with %s',
    async (clientAuthentication) => {
      const token = await tokensOf({ clientAuthentication, scope: ['one', 'two'] }).getToken()
      expect(token.response).toMatchObject({ tokenType: 'Bearer', expiresIn: 3_600, scope: ['one', 'two'] })
      const payload = JSON.parse(
        atob(token.value.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')),
      ) as object
      expect(payload).toMatchObject({ scope: 'one two' })
    },
  )

  it.each([
    [400, { error: 'invalid_scope' }, { kind: 'configuration', oauthError: 'invalid_scope' }],
    [401, { error: 'invalid_client' }, { kind: 'credentials', oauthError: 'invalid_client' }],
    [200, { error: 'invalid_client' }, { kind: 'credentials', status: 200 }],
    [429, {}, { kind: 'throttled' }],
    [503, {}, { kind: 'unavailable' }],
    [200, {}, { kind: 'malformed' }],
  ])('is classified as expected with status %d and %j', async (status, body, expected) => {
    respondOnce((response) => Object.assign(response, { statusCode: status, body }))
    const tokens = tokensOf({ maxAttempts: 1 })
    await expect(tokens.getToken()).rejects.toMatchObject(expected)
  })

  it('is retried after one failure', async () => {
    respondOnce((response) => Object.assign(response, { statusCode: 503, body: {} }))
    await expect(tokensOf().getToken()).resolves.toBeDefined()
  })

  it('may return no lifetime, or a string', async () => {
    const { expires_in: _none, ...rest } = { expires_in: 1, access_token: 'a', token_type: 'Bearer' }
    respondOnce((response) => Object.assign(response, { body: rest }))
    const { expiresAt } = await tokensOf().getToken()
    expect(expiresAt.getTime() - Date.now()).toBeLessThanOrEqual(300_000)
    respondOnce((response) => Object.assign(response, { body: { ...rest, expires_in: '60' } }))
    expect((await tokensOf().getToken()).response.expiresIn).toBe(60)
  })
})
