import { describe, expect, it, vi } from 'vitest'
import {
  clientCredentialsForResource,
  createMemoryTokenStore,
  createTokenPool,
  createTokenProvider,
  type TokenProvider,
  type TokenProviderOptions,
  type TokenSource,
  type TokenStore,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import {
  ScriptedEndpoint,
  sourceOf,
  tokensOf,
  grants,
  type ScriptedResponse,
} from '../support/scripted-endpoint.ts'

useFakeTime()

const revocationEndpoint = 'https://auth.example.com/revoke'
const revoked: ScriptedResponse = { body: '' }

/** Responds to revocations with `response`, and to other requests with tokens. */
function start(response: ScriptedResponse = revoked) {
  const endpoint: ScriptedEndpoint = new ScriptedEndpoint(() =>
    endpoint.requests.at(-1)!.form.has('token') ? response : {},
  )
  const revocations = () => endpoint.requests.filter(({ form }) => form.has('token'))
  return { endpoint, revocations }
}

describe.each(grants)('with %s, revoke', (_grant, tokensOfGrant) => {
  it('revokes the cached token as the client (RFC 7009), and the next call requests another one', async () => {
    const { endpoint, revocations } = start()
    const tokens = tokensOfGrant(endpoint, { revocationEndpoint })
    await tokens.getToken()
    await tokens.revoke()
    expect(revocations()).toMatchObject([{ url: revocationEndpoint }])
    expect(Object.fromEntries(revocations()[0]!.form)).toEqual({
      token: 'token-1',
      token_type_hint: 'access_token',
      client_id: 'client',
      client_secret: 'secret',
    })
    expect(tokens.peekToken()).toBeUndefined()
    expect((await tokens.getToken()).value).toBe('token-3')
  })
})

describe('revoke', () => {
  it('does nothing without a token', async () => {
    const { endpoint } = start()
    await createTokenProvider(sourceOf(endpoint, { revocationEndpoint })).revoke()
    expect(endpoint.requests).toEqual([])
  })

  it('uses the endpoint of the platform with authUrl', async () => {
    const { endpoint, revocations } = start()
    const options = { tokenEndpoint: undefined, authUrl: 'https://auth.example.com/base/' }
    const tokens = createTokenProvider(sourceOf(endpoint, options))
    await tokens.getToken()
    await tokens.revoke()
    expect(revocations()).toMatchObject([{ url: 'https://auth.example.com/base/oauth/revoke' }])
  })

  it("uses the endpoint in the issuer's metadata", async () => {
    const { endpoint, revocations } = start()
    const issuer = 'https://auth.example.com'
    const metadata = { issuer, token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/out` }
    const fetch: typeof endpoint.fetch = async (url, init) =>
      init?.method === 'POST' ? endpoint.fetch(url, init) : Response.json(metadata)
    const tokens = createTokenProvider(
      sourceOf(endpoint, {
        tokenEndpoint: undefined,
        issuer,
        fetch,
        clientAuthentication: 'client_secret_post',
      }),
    )
    await tokens.getToken()
    await tokens.revoke()
    expect(revocations()).toMatchObject([{ url: `${issuer}/out` }])
  })

  it('uses the endpoint of the issuer that a protected resource names', async () => {
    const { endpoint, revocations } = start()
    const [api, issuer] = ['https://api.example.com', 'https://auth.example.com']
    const fetch: typeof endpoint.fetch = async (url, init) => {
      if (init?.method === 'POST') return endpoint.fetch(url, init)
      return new Request(url).url.startsWith(api)
        ? Response.json({ resource: api, authorization_servers: [issuer] })
        : Response.json({ issuer, token_endpoint: `${issuer}/token`, revocation_endpoint: `${issuer}/out` })
    }
    const client = { clientId: 'client', clientSecret: 'secret', fetch }
    const tokens = clientCredentialsForResource({
      ...client,
      protectedResource: api,
      trustedIssuers: [issuer],
    })
    await tokens.getToken()
    await tokens.revoke()
    expect(revocations()).toMatchObject([{ url: `${issuer}/out` }])
  })

  it('revokes a token where it came from, although the API names another issuer since', async () => {
    const { endpoint, revocations } = start()
    const api = 'https://api.example.com'
    let issuer = 'https://one.example.com'
    const fetch: typeof endpoint.fetch = async (input, init) => {
      if (init?.method === 'POST') return endpoint.fetch(input, init)
      const { origin } = new URL(new Request(input).url)
      return origin === api
        ? Response.json({ resource: api, authorization_servers: [issuer] })
        : Response.json({
            issuer: origin,
            token_endpoint: `${origin}/token`,
            revocation_endpoint: `${origin}/out`,
          })
    }
    const tokens = clientCredentialsForResource({
      clientId: 'client',
      clientSecret: 'secret',
      fetch,
      protectedResource: api,
      trustedIssuers: () => true,
    })
    await tokens.getToken()
    issuer = 'https://two.example.com'
    await tokens.revoke()
    expect(revocations()).toMatchObject([{ url: 'https://one.example.com/out' }])
  })

  it.each([
    [
      'of a source that knows no endpoint',
      undefined,
      'revocationEndpoint is missing. Set it beside tokenEndpoint.',
    ],
    ['of another kind of source', { cacheKey: async () => 'key' }, 'The token source cannot revoke tokens.'],
  ])('drops the token %s, and says why it is not revoked', async (_name, custom, message) => {
    const { endpoint } = start()
    const source = sourceOf(endpoint)
    const tokens = createTokenProvider(
      custom ? { ...custom, requestToken: (context) => source.requestToken(context) } : source,
    )
    await tokens.getToken()
    await expect(tokens.revoke()).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining(message),
    })
    expect(tokens.peekToken()).toBeUndefined()
  })

  it.each<[ScriptedResponse, string]>([
    [{ status: 503, body: '' }, 'unavailable'],
    [{ status: 401, body: { error: 'invalid_client' } }, 'credentials'],
    [
      { status: 400, body: { error: 'unsupported_token_type', error_description: 'token-1' } },
      'configuration',
    ],
    [{ error: new TypeError('token-1') }, 'unavailable'],
  ])('fails with %j, without the token in the error', async (response, kind) => {
    const { endpoint } = start(response)
    const tokens = createTokenProvider(sourceOf(endpoint, { revocationEndpoint }))
    await tokens.getToken()
    const error: unknown = await tokens.revoke().catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'TokenError', kind })
    expect(String(error)).not.toContain('token-1')
  })

  it('waits no longer than an attempt', async () => {
    const { endpoint } = start({ latencyMs: Infinity })
    const tokens = createTokenProvider(sourceOf(endpoint, { revocationEndpoint }), { attemptTimeoutMs: 500 })
    await tokens.getToken()
    const call = watch(tokens.revoke())
    await pass(500)
    expect(call).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
    expect(endpoint.cancelled).toBe(1)
  })

  it('removes a shared token from the store first', async () => {
    const { endpoint } = start()
    const memory = createMemoryTokenStore()
    const remove = vi.fn(async (key: string, id: string) => {
      expect(endpoint.requests).toHaveLength(1)
      await memory.remove(key, id)
    })
    const store = { ...memory, remove }
    const tokens = createTokenProvider(sourceOf(endpoint, { revocationEndpoint }), { store })
    await tokens.getToken()
    await pass(10)
    await tokens.revoke()
    expect(remove).toHaveBeenCalledOnce()
    expect(endpoint.requests).toHaveLength(2)
    const other = createTokenProvider(sourceOf(endpoint, { revocationEndpoint }), { store })
    expect((await other.getToken()).value).toBe('token-3')
  })
})

describe('close({ revoke: true })', () => {
  it.each([
    ['revokes a token', undefined, 1],
    ['does not revoke a token that is shared', createMemoryTokenStore(), 0],
  ])('%s', async (_name, store, count) => {
    const { endpoint, revocations } = start()
    const tokens = createTokenProvider(sourceOf(endpoint, { revocationEndpoint }), { store })
    await tokens.getToken()
    await tokens.close({ revoke: true })
    expect(revocations()).toHaveLength(count)
  })

  it('is not the default, and needs no token', async () => {
    const { endpoint, revocations } = start()
    const [one, other] = [1, 2].map(() => createTokenProvider(sourceOf(endpoint, { revocationEndpoint })))
    await one!.getToken()
    await one!.close()
    await other!.close({ revoke: true })
    expect(revocations()).toEqual([])
  })

  it('revokes the token of a key in a pool', async () => {
    const { endpoint, revocations } = start()
    const pool = createTokenPool(() => tokensOf(endpoint, { revocationEndpoint }))
    await pool.for('one').getToken()
    await pool.for('two').getToken()
    await pool.for('one').revoke()
    await pool.for('two').close({ revoke: true })
    expect(revocations().map(({ form }) => form.get('token'))).toEqual(['token-1', 'token-2'])
  })
})

describe('a token with the scopes that an API required as well', () => {
  const request = { url: 'https://api.example.com/admin', attempt: 1, repeatable: true } as const

  /** Tokens are named after their scopes. */
  async function startStepUp(options: TokenProviderOptions = {}) {
    const revoked: string[] = []
    const sourceWith = (scopes: readonly string[]): TokenSource => ({
      cacheKey: async () => scopes.join(' '),
      requestToken: async () => ({
        accessToken: scopes.join('+'),
        tokenType: 'Bearer',
        scope: [],
        expiresIn: 60,
      }),
      revokeToken: async (token) => {
        revoked.push(token)
        if (token === 'read+broken') throw new TypeError('down')
      },
      stepUp: (more) => sourceWith([...scopes, ...more]),
    })
    const tokens = createTokenProvider(sourceWith(['read']), options)
    const stepUp = async (scope: string) =>
      tokens.replaceRejected(await tokens.getToken(), { ...request, missingScopes: [scope] })
    return { revoked, tokens, stepUp }
  }

  it.each([
    ['revoke()', (tokens: TokenProvider) => tokens.revoke()],
    ['close({ revoke: true })', (tokens: TokenProvider) => tokens.close({ revoke: true })],
  ])('is revoked by %s, and so is the one without them', async (_name, end) => {
    const { revoked, tokens, stepUp } = await startStepUp()
    expect((await stepUp('admin'))?.value).toBe('read+admin')
    expect((await tokens.getToken()).value).toBe('read+admin')
    await end(tokens)
    expect(revoked.toSorted()).toEqual(['read', 'read+admin'])
    expect(tokens.peekToken()).toBeUndefined()
  })

  it('is removed from the store by revoke()', async () => {
    const store = createMemoryTokenStore()
    const { tokens, stepUp } = await startStepUp({ store })
    await stepUp('admin')
    expect(await Promise.all(['read', 'read admin'].map((key) => store.read(key)))).not.toContain(undefined)
    await tokens.revoke()
    expect(await Promise.all(['read', 'read admin'].map((key) => store.read(key)))).toEqual([
      undefined,
      undefined,
    ])
  })

  it('is removed from the store by revoke() even while it is being written', async () => {
    const store = createMemoryTokenStore()
    const slow: TokenStore = {
      ...store,
      lease: async (...of) => {
        const lease = (await store.lease(...of))!
        return {
          ...lease,
          write: async (...of) => (
            await new Promise((resolve) => setTimeout(resolve, 50)),
            lease.write(...of)
          ),
        }
      },
    }
    const { tokens } = await startStepUp({ store: slow })
    await tokens.getToken()
    const revocation = watch(tokens.revoke())
    await pass(100)
    expect(revocation.state).toBe('resolved')
    expect(await store.read('read')).toBeUndefined()
  })

  it('that cannot be revoked does not keep the other from being revoked', async () => {
    const { revoked, tokens, stepUp } = await startStepUp()
    await stepUp('broken')
    await expect(tokens.revoke()).rejects.toThrow('down')
    expect(revoked.toSorted()).toEqual(['read', 'read+broken'])
  })
})
