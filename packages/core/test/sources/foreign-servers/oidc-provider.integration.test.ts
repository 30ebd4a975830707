import { createServer } from 'node:http'
import { errors, Provider, type ClientMetadata } from 'oidc-provider'
import { beforeAll, afterAll, describe, expect, it, vi } from 'vitest'
import {
  clientCredentials,
  createTokenFetch,
  createTokenProvider,
  type ClientCredentialsOptions,
} from '@tokenwell/core'
import { listen, startServer, stop } from '../../support/issuer.ts'

const api = 'https://api.example.com'
const oddSecret = 'p%:&=+ ~*-._!()'

function client(
  id: string,
  token_endpoint_auth_method: 'client_secret_post' | 'client_secret_basic',
): ClientMetadata {
  return {
    client_id: id,
    client_secret: oddSecret,
    token_endpoint_auth_method,
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    scope: 'api:read api:write',
  }
}

describe('oidc-provider', () => {
  let provider: Provider
  let tokenEndpoint: string
  const server = createServer((request, response) => void provider.callback()(request, response))

  beforeAll(async () => {
    // It warns about its development defaults.
    for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})
    const origin = await listen(server)
    tokenEndpoint = `${origin}/token`
    provider = new Provider(origin, {
      clients: [client('post', 'client_secret_post'), client('basic:client/id', 'client_secret_basic')],
      scopes: ['api:read', 'api:write'],
      ttl: { ClientCredentials: 600 },
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, resource) => {
            if (resource !== api) throw new errors.InvalidTarget()
            return { scope: 'api:read api:write', audience: resource, accessTokenFormat: 'jwt' }
          },
        },
      },
    })
  })
  afterAll(async () => {
    await stop(server)
    vi.restoreAllMocks()
  })

  function tokensOf(options: Partial<ClientCredentialsOptions> = {}) {
    return createTokenProvider(
      clientCredentials({ tokenEndpoint, clientId: 'post', clientSecret: oddSecret, ...options }),
      { maxAttempts: 1 },
    )
  }

  it.each<[string, Partial<ClientCredentialsOptions>]>([
    ['post', {}],
    ['client_secret_basic', { clientId: 'basic:client/id', clientAuthentication: 'client_secret_basic' }],
  ])('issues a token with %s, with special characters', async (_name, options) => {
    const token = await tokensOf({ ...options, scope: ['api:read'] }).getToken()
    expect(token.response).toMatchObject({ tokenType: 'Bearer', expiresIn: 600, scope: ['api:read'] })
    const found = await provider.ClientCredentials.find(token.value)
    expect(found).toMatchObject({ clientId: options.clientId ?? 'post', scope: 'api:read' })
  })

  it('returns a token for a resource', async () => {
    const token = await tokensOf({ resource: api, scope: 'api:read api:write' }).getToken()
    const payload = JSON.parse(
      atob(token.value.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')),
    ) as object
    expect(payload).toMatchObject({ aud: api, scope: 'api:read api:write', client_id: 'post' })
  })

  it('returns the granted scopes', async () => {
    const token = await tokensOf({ scope: 'api:read api:delete' }).getToken()
    expect(token.response.scope).toEqual(['api:read'])
  })

  it.each<[string, Partial<ClientCredentialsOptions>, object]>([
    [
      'a wrong secret',
      { clientSecret: 'wrong' },
      { kind: 'credentials', oauthError: 'invalid_client', status: 401 },
    ],
    ['an unknown client', { clientId: 'nobody' }, { kind: 'credentials', oauthError: 'invalid_client' }],
    [
      'an unknown resource',
      { resource: 'https://other.example.com' },
      { kind: 'configuration', oauthError: 'invalid_target' },
    ],
    [
      'a resource that is no address',
      { resource: 'api' },
      { kind: 'configuration', oauthError: 'invalid_target' },
    ],
    [
      'the platform’s path',
      { tokenEndpoint: undefined, authUrl: 'later' },
      { kind: 'configuration', status: 404 },
    ],
  ])('rejects %s, and the error is classified', async (_name, options, expected) => {
    const authUrl = options.authUrl && new URL(tokenEndpoint).origin
    const error: unknown = await tokensOf({ ...options, authUrl })
      .getToken()
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'TokenError', ...expected })
    expect((error as Error).message).not.toContain(oddSecret)
  })

  it('destroys a token, and an API that introspects it gets a new one', async () => {
    const seen: number[] = []
    const speechApi = await startServer((request, response) => {
      const value = request.headers.authorization?.slice('Bearer '.length) ?? ''
      void provider.ClientCredentials.find(value).then((token) => {
        response.statusCode = token ? 200 : 401
        seen.push(response.statusCode)
        response.end()
      })
    })
    const tokens = tokensOf()
    const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [speechApi] })
    expect((await tokenFetch(speechApi)).status).toBe(200)
    await (await provider.ClientCredentials.find((await tokens.getToken()).value))!.destroy()
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await tokenFetch(speechApi)).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(seen).toContain(401)
  })
})
