import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { createServer } from 'node:http'
import { errors, Provider, type ClientMetadata } from 'oidc-provider'
import { beforeAll, afterAll, describe, expect, it, vi } from 'vitest'
import {
  clientCredentials,
  createTokenFetch,
  jwtBearer,
  tokenExchange,
  type ClientCredentialsOptions,
} from '@tokenwell/core'
import { listen, startServer, stop } from '../../support/issuer.ts'

const api = 'https://api.example.com'
const oddSecret = 'p%:&=+ ~*-._!()'
const [jwtBearerGrant, exchangeGrant] = ['jwt-bearer', 'token-exchange'].map(
  (name) => `urn:ietf:params:oauth:grant-type:${name}`,
) as [string, string]

const { privateKey, publicKey } = generateKeyPairSync('ed25519')

function signJwt(claims: object): string {
  const parts = [{ alg: 'EdDSA' }, { exp: Math.floor(Date.now() / 1000) + 60, ...claims }]
  const content = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${content}.${sign(null, Buffer.from(content), privateKey).toString('base64url')}`
}

/** The claims of a JWT of this key. */
function verifyJwt(jwt: unknown): { readonly sub?: string; readonly aud?: string } | undefined {
  const [header, payload, signature] = String(jwt).split('.')
  const content = Buffer.from(`${header}.${payload}`)
  if (!verify(null, content, publicKey, Buffer.from(signature ?? '', 'base64url'))) return undefined
  return JSON.parse(Buffer.from(payload!, 'base64url').toString()) as object
}

function client(
  id: string,
  token_endpoint_auth_method: 'client_secret_post' | 'client_secret_basic',
): ClientMetadata {
  return {
    client_id: id,
    client_secret: oddSecret,
    token_endpoint_auth_method,
    grant_types: ['client_credentials', jwtBearerGrant, exchangeGrant],
    response_types: [],
    redirect_uris: [],
    scope: 'api:read api:write',
  }
}

describe('oidc-provider', () => {
  let provider: Provider
  let tokenEndpoint: string
  const subjects: unknown[] = []
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
        revocation: { enabled: true, allowedPolicy: () => true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context, resource) => {
            if (resource !== api) throw new errors.InvalidTarget()
            return { scope: 'api:read api:write', audience: resource, accessTokenFormat: 'jwt' }
          },
        },
      },
    })
    for (const [grant, parameter] of [
      [jwtBearerGrant, 'assertion'],
      [exchangeGrant, 'subject_token'],
    ] as const) {
      const handle: Parameters<Provider['registerGrantType']>[1] = async (context) => {
        const { client: caller, params } = context.oidc
        const claims = verifyJwt(params?.[parameter])
        if (claims?.aud !== origin) throw new errors.InvalidGrant('not trusted')
        const token = new provider.ClientCredentials({ client: caller, scope: 'api:read' })
        subjects.push(claims.sub)
        context.body = {
          access_token: await token.save(),
          expires_in: token.expiration,
          token_type: 'Bearer',
        }
      }
      provider.registerGrantType(grant, handle, [parameter, 'subject_token_type', 'scope'])
    }
  })
  afterAll(async () => {
    await stop(server)
    vi.restoreAllMocks()
  })

  function tokensOf(options: Partial<ClientCredentialsOptions> = {}) {
    return clientCredentials({
      tokenEndpoint,
      clientId: 'post',
      clientSecret: oddSecret,
      ...options,
      maxAttempts: 1,
    })
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

  it.each(['jwtBearer', 'tokenExchange'])(
    'issues and revokes a token with %s, and says why not',
    async (grant) => {
      const issuer = new URL(tokenEndpoint).origin
      let proof = signJwt({ sub: 'machine', aud: 'another' })
      const options = { issuer, clientId: 'post', clientSecret: oddSecret, subject: 'machine' }
      const tokens =
        grant === 'jwtBearer'
          ? jwtBearer({ ...options, assertion: () => proof })
          : tokenExchange({ ...options, subjectToken: () => proof })
      await expect(tokens.getToken()).rejects.toMatchObject({
        kind: 'credentials',
        oauthError: 'invalid_grant',
        message: expect.stringMatching(/rejected the (?:assertion|subject token) \(400 invalid_grant\)/),
      })
      proof = signJwt({ sub: 'machine', aud: issuer })
      const token = await tokens.getToken()
      expect(await provider.ClientCredentials.find(token.value)).toBeDefined()
      expect(subjects.at(-1)).toBe('machine')
      // Of the subject token.
      expect(token.response.expiresIn! <= 60).toBe(grant === 'tokenExchange')
      await tokens.revoke()
      expect(await provider.ClientCredentials.find(token.value)).toBeUndefined()
    },
  )
})
