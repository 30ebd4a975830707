import { createServer } from 'node:http'
import OAuth2Server from '@node-oauth/oauth2-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clientCredentials, type ClientCredentialsOptions } from '@tokenwell/core'
import { listen, readText, stop } from '../../support/issuer.ts'

const clients: Record<string, string> = { plain: 'Secret-1.a_b', odd: 'p%:&=+ ~' }
const granted = ['read', 'write']

const model: OAuth2Server.ClientCredentialsModel = {
  getClient: (id, secret) =>
    Promise.resolve(
      clients[id] === secret && { id, grants: ['client_credentials'], accessTokenLifetime: 120 },
    ),
  getUserFromClient: (client) => Promise.resolve({ id: client.id }),
  validateScope: (_user, _client, scope = []) =>
    Promise.resolve(scope.every((name) => granted.includes(name)) && scope),
  saveToken: (token, client, user) => Promise.resolve({ ...token, client, user }),
  getAccessToken: () => Promise.resolve(false),
}

describe('@node-oauth/oauth2-server', () => {
  const oauth = new OAuth2Server({ model })
  let tokenEndpoint: string
  const server = createServer((request, response) => {
    void readText(request).then(async (text) => {
      const headers = request.headers as Record<string, string>
      const body = Object.fromEntries(new URLSearchParams(text))
      const oauthResponse = new OAuth2Server.Response()
      await oauth
        .token(new OAuth2Server.Request({ method: 'POST', query: {}, headers, body }), oauthResponse)
        .catch(() => {})
      response.writeHead(oauthResponse.status ?? 500, {
        ...oauthResponse.headers,
        'content-type': 'application/json',
      })
      response.end(JSON.stringify(oauthResponse.body))
    })
  })
  beforeAll(async () => void (tokenEndpoint = await listen(server)))
  afterAll(() => stop(server))

  const ask = (options: Partial<ClientCredentialsOptions> = {}) => {
    return clientCredentials({
      tokenEndpoint,
      clientId: 'plain',
      clientSecret: clients['plain']!,
      ...options,
      maxAttempts: 1,
    }).getToken()
  }

  it.each<[string, Partial<ClientCredentialsOptions>]>([
    ['post', {}],
    ['client_secret_basic', { clientAuthentication: 'client_secret_basic' }],
    ['post, odd characters included', { clientId: 'odd', clientSecret: clients['odd']! }],
  ])('issues a token with %s', async (_name, options) => {
    const token = await ask({ ...options, scope: ['read', 'write'] })
    expect(token.value).toMatch(/^[0-9a-f]{64}$/)
    expect(token.response).toMatchObject({ tokenType: 'Bearer', scope: ['read', 'write'] })
    const { expiresIn = 0 } = token.response
    // It counts down from its own reading of the clock.
    expect(expiresIn).toBeGreaterThan(60)
    expect(expiresIn).toBeLessThanOrEqual(120)
  })

  it('skips the form-decoding of RFC 6749 and rejects special characters with Basic', async () => {
    const call = ask({
      clientId: 'odd',
      clientSecret: clients['odd']!,
      clientAuthentication: 'client_secret_basic',
    })
    await expect(call).rejects.toMatchObject({ kind: 'credentials', oauthError: 'invalid_client' })
  })

  it.each<[string, Partial<ClientCredentialsOptions>, object]>([
    ['a wrong secret', { clientSecret: 'wrong' }, { kind: 'credentials', oauthError: 'invalid_client' }],
    ['an unknown client', { clientId: 'nobody' }, { kind: 'credentials', oauthError: 'invalid_client' }],
    [
      'an unknown scope',
      { scope: 'delete' },
      { kind: 'configuration', oauthError: 'invalid_scope', status: 400 },
    ],
  ])('rejects %s, and the error is classified', async (_name, options, expected) => {
    await expect(ask(options)).rejects.toMatchObject({ name: 'TokenError', ...expected })
  })

  it("rejects the platform's request, with grant_type in the query", async () => {
    const call = ask({ tokenEndpoint: undefined, authUrl: tokenEndpoint })
    await expect(call).rejects.toMatchObject({
      kind: 'configuration',
      oauthError: 'invalid_request',
      status: 400,
    })
  })
})
