import { describe, expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenPool,
  createTokenProvider,
  jwtBearer,
  tokenExchange,
  type JwtBearerOptions,
  type TokenBinding,
  type TokenError,
  type TokenExchangeOptions,
} from '@tokenwell/core'
import { createGrantSource } from '@tokenwell/core/adapter'
import * as fc from 'fast-check'
import { collectGarbage } from '../support/collect-garbage.ts'
import { pass, useFakeTime } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants } from '../support/scripted-endpoint.ts'
import { cacheKeyOf } from '../support/observe-keys.ts'

useFakeTime()

const tokenEndpoint = 'https://auth.example.com/token'
const jwt = (claims: object): string =>
  ['{"alg":"none"}', JSON.stringify(claims), 'signature'].map((part) => btoa(part)).join('.')

const bearerOf = (endpoint: ScriptedEndpoint, options: Partial<JwtBearerOptions> = {}) =>
  jwtBearer({ tokenEndpoint, assertion: 'assertion', subject: 'machine', fetch: endpoint.fetch, ...options })
const exchangeOf = (endpoint: ScriptedEndpoint, options: Partial<TokenExchangeOptions> = {}) =>
  tokenExchange({
    tokenEndpoint,
    subjectToken: 'incoming',
    subject: 'user',
    fetch: endpoint.fetch,
    ...options,
  })
const formOf = ({ requests }: ScriptedEndpoint) => Object.fromEntries(requests.at(-1)!.form)

describe('jwtBearer', () => {
  it('sends the assertion, without a client ID if the client has no ID (RFC 7523, section 2.1)', async () => {
    const endpoint = new ScriptedEndpoint()
    const resource = 'https://api.example.com'
    await bearerOf(endpoint, { scope: 'read', resource }).getToken()
    expect(formOf(endpoint)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: 'assertion',
      scope: 'read',
      resource,
    })
    expect(endpoint.requests[0]!.headers).not.toHaveProperty('authorization')
  })

  it.each([
    ['client_secret_post', { client_id: 'client', client_secret: 'secret' }, undefined],
    ['client_secret_basic', {}, `Basic ${btoa('client:secret')}`],
  ] as const)('authenticates a client that has a secret: %s', async (clientAuthentication, form, header) => {
    const endpoint = new ScriptedEndpoint()
    const client = { clientId: 'client', clientSecret: 'secret', clientAuthentication }
    await bearerOf(endpoint, client).getToken()
    const { grant_type: _grant, assertion, ...rest } = formOf(endpoint)
    expect([assertion, rest]).toEqual(['assertion', form])
    expect(endpoint.requests[0]!.headers['authorization']).toBe(header)
  })

  it('names a client without a secret by its ID alone', async () => {
    const endpoint = new ScriptedEndpoint()
    await bearerOf(endpoint, { clientId: 'client' }).getToken()
    expect(formOf(endpoint)).toMatchObject({ client_id: 'client' })
    expect(formOf(endpoint)).not.toHaveProperty('client_secret')
  })

  it('calls a function for each request, with the endpoint and a signal', async () => {
    const endpoint = new ScriptedEndpoint()
    const assertion = vi.fn(async () => `assertion-${endpoint.requests.length}\n`)
    const tokens = bearerOf(endpoint, { assertion })
    await tokens.getToken()
    await tokens.getToken({ forceRefresh: true })
    expect(endpoint.requests.map(({ form }) => form.get('assertion'))).toEqual(['assertion-0', 'assertion-1'])
    expect(assertion).toHaveBeenCalledTimes(2)
    expect(assertion).toHaveBeenCalledWith(
      expect.objectContaining({ tokenEndpoint: new URL(tokenEndpoint), signal: expect.any(AbortSignal) }),
    )
  })

  it.each<[object, string]>([
    [{ subject: undefined }, 'subject is missing.'],
    [{ subject: '' }, 'subject is missing.'],
    [{ clientSecret: 'secret' }, 'clientId is missing.'],
    [{ clientAuthentication: 'client_secret_basic', clientId: 'client' }, 'clientSecret is missing.'],
  ])('rejects %j', (options, message) => {
    expect(() => bearerOf(new ScriptedEndpoint(), options)).toThrow(message)
  })

  it.each([
    ['nothing', () => undefined as never],
    ['an empty text', () => ' '],
  ])('rejects an assertion function that returns %s', async (_name, assertion) => {
    const endpoint = new ScriptedEndpoint()
    await expect(bearerOf(endpoint, { assertion }).getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: 'assertion is missing. Pass a string, or a function that returns one.',
    })
    expect(endpoint.requests).toEqual([])
  })
})

describe('tokenExchange', () => {
  it('sends the subject token and its type (RFC 8693, section 2.1)', async () => {
    const endpoint = new ScriptedEndpoint()
    await exchangeOf(endpoint, { audience: 'orders' }).getToken()
    expect(formOf(endpoint)).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: 'incoming',
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      audience: 'orders',
    })
  })

  it('sends the actor token and the types that are set', async () => {
    const endpoint = new ScriptedEndpoint()
    const type = (name: string) => `urn:ietf:params:oauth:token-type:${name}`
    const options = {
      subjectTokenType: type('id_token'),
      actorToken: () => 'agent-token',
      actor: 'agent',
      actorTokenType: type('jwt'),
      requestedTokenType: type('access_token'),
    }
    await exchangeOf(endpoint, options).getToken()
    expect(formOf(endpoint)).toMatchObject({
      subject_token_type: type('id_token'),
      actor_token: 'agent-token',
      actor_token_type: type('jwt'),
      requested_token_type: type('access_token'),
    })
  })

  it.each([
    ['is capped by that of the subject token', 600, 3_600, 600],
    ['is that of the response if it is shorter', 600, 300, 300],
    ['is that of the subject token if the response has none', 600, undefined, 600],
    ['is that of the response if the subject token has expired by this clock', -60, 3_600, 3_600],
  ])('expires with its subject: the lifetime %s', async (_name, subjectSeconds, expiresIn, seconds) => {
    const endpoint = new ScriptedEndpoint({ body: { access_token: 'token', expires_in: expiresIn } })
    const subjectToken = jwt({ exp: Date.now() / 1000 + subjectSeconds })
    const token = await exchangeOf(endpoint, { subjectToken }).getToken()
    expect(token.expiresAt.getTime() - Date.now()).toBeCloseTo(1_000 * seconds, -1)
  })

  it('requires the name of an actor with its token', () => {
    const endpoint = new ScriptedEndpoint()
    expect(() => exchangeOf(endpoint, { actorToken: 'agent-token' })).toThrow('actor and actorToken')
    expect(() => exchangeOf(endpoint, { actor: 'agent' })).toThrow('actor and actorToken')
  })

  it('gives each subject its own token in any order of use, and keeps as many as the pool allows', async () => {
    const subjects = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), {
      minLength: 2,
      maxLength: 12,
    })
    await fc.assert(
      fc.asyncProperty(
        subjects,
        fc.array(fc.nat(), { maxLength: 60 }),
        fc.boolean(),
        async (names, uses, shares) => {
          const store = shares ? createMemoryTokenStore() : undefined
          const fetch = async (_url: unknown, init?: RequestInit) => {
            const incoming = new URLSearchParams(init?.body as string).get('subject_token')
            return Response.json({ access_token: btoa(encodeURIComponent(incoming!)), expires_in: 600 })
          }
          const pool = createTokenPool(
            (subject: string) =>
              tokenExchange({ tokenEndpoint, fetch, subject, store, subjectToken: () => `of ${subject}.` }),
            { maxEntries: 3 },
          )
          for (const use of uses) {
            const name = names[use % names.length]!
            const { value } = await pool.for(name).getToken()
            expect(value).toBe(btoa(encodeURIComponent(`of ${name}.`)))
          }
          expect(pool.size).toBeLessThanOrEqual(3)
          await pool.close()
        },
      ),
      { numRuns: 100 },
    )
  })
})

describe.each(grants)('a source with %s', (grant, tokensOf) => {
  const isAssertion = grant === 'jwt-bearer'
  const proof = isAssertion ? 'assertion' : 'subjectToken'

  it('has a cache key of its own', async () => {
    const endpoint = new ScriptedEndpoint()
    const keys = await Promise.all(
      grants.map(([, create]) => cacheKeyOf((store) => create(endpoint, { store }))),
    )
    expect(new Set(keys).size).toBe(grants.length)
    const fetch = async () => Response.json({ access_token: 'another', expires_in: 60 })
    const keyWith = (options: object) => cacheKeyOf((store) => tokensOf(endpoint, { ...options, store }))
    expect(await keyWith({})).toBe(await keyWith({ fetch }))
  })

  it('shares its token through a store', async () => {
    const endpoint = new ScriptedEndpoint()
    const store = createMemoryTokenStore()
    const values: string[] = []
    for (let count = 0; count < 3; count++) {
      values.push((await tokensOf(endpoint, { store }).getToken()).value)
    }
    expect([values, endpoint.requests.length]).toEqual([Array(3).fill('token-1'), 1])
  })

  it('binds its tokens to a key (DPoP)', async () => {
    const endpoint = new ScriptedEndpoint({
      body: { access_token: 'bound', token_type: 'DPoP', expires_in: 60 },
    })
    const binding = {
      tokenType: 'DPoP' as const,
      checkShareable: () => {},
      fingerprint: () => 'key',
      send: ((_url, send) => send({ dpop: 'proof' })) satisfies TokenBinding['send'],
      prove: async () => ({ dpop: 'proof' }),
      receive: () => false,
    }
    const token = await tokensOf(endpoint, { binding }).getToken()
    expect([token.tokenType, endpoint.requests[0]!.headers['dpop']]).toEqual(['DPoP', 'proof'])
  })

  if (grant === 'client credentials') return

  it('has a cache key that contains its subject, and never what proves it', async () => {
    const endpoint = new ScriptedEndpoint()
    const keyOf = (options: object) => cacheKeyOf((store) => tokensOf(endpoint, { ...options, store }))
    const key = await keyOf({})
    expect(await keyOf({ [proof]: 'another' })).toBe(key)
    expect(await keyOf({ subject: 'another' })).not.toBe(key)
  })

  it.each(['invalid_grant', 'invalid_request'])(
    'redacts what proves it if the server repeats it: %s',
    async (code) => {
      const canary = 'canary-0123456789'
      const body = { error: code, error_description: `bad ${canary}` }
      const endpoint = new ScriptedEndpoint({ status: 400, body })
      const tokens = tokensOf(endpoint, { [proof]: canary })
      const thrown: unknown = await tokens.getToken().catch((reason: unknown) => reason)
      expect(thrown).toMatchObject({ message: expect.stringContaining('bad [redacted]') })
      endpoint.script = { status: 400, body: { error: canary } }
      const echoed: unknown = await tokens.getToken({ forceRefresh: true }).catch((reason: unknown) => reason)
      expect(JSON.stringify([thrown, echoed, tokens, String(thrown), String(echoed)])).not.toContain(canary)
    },
  )

  it('says what was rejected', async () => {
    const endpoint = new ScriptedEndpoint({ status: 400, body: { error: 'invalid_grant' } })
    const what = isAssertion ? 'assertion' : 'subject token'
    await expect(tokensOf(endpoint).getToken()).rejects.toMatchObject({
      kind: 'credentials',
      message: expect.stringContaining(
        `The token endpoint rejected the ${what} (400 invalid_grant). Check its issuer`,
      ),
    })
  })

  it.each(['invalid_grant', 'invalid_request'])(
    'ends a cooldown at once if the %s is replaced',
    async (error) => {
      let value = 'old'
      const endpoint: ScriptedEndpoint = new ScriptedEndpoint()
      const name = isAssertion ? 'assertion' : 'subject_token'
      endpoint.script = () =>
        endpoint.requests.at(-1)!.form.get(name) === 'new' ? {} : { status: 400, body: { error } }
      const tokens = tokensOf(endpoint, { [proof]: () => value })
      await expect(tokens.getToken()).rejects.toThrow(error)
      await pass(5_000)
      await expect(tokens.getToken()).rejects.toThrow(error)
      await pass(1_000)
      value = 'new'
      await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-3' })
    },
  )

  it('is not blamed if the client may not use the grant, and neither is a secret', async () => {
    const endpoint = new ScriptedEndpoint({ status: 400, body: { error: 'unauthorized_client' } })
    const { kind, message } = (await tokensOf(endpoint)
      .getToken()
      .catch((error: unknown) => error)) as TokenError
    expect(kind).toBe('credentials')
    expect(message).toContain('did not authorize the client for this grant (400 unauthorized_client)')
    expect(message).not.toContain('secret')
  })

  it('is not replaced by one that differs for each request', async () => {
    let count = 0
    const endpoint = new ScriptedEndpoint({ status: 400, body: { error: 'invalid_grant' } })
    const tokens = tokensOf(endpoint, { [proof]: () => `signed-${++count}` })
    for (let second = 0; second < 30; second++) {
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
      await pass(1_000)
    }
    expect(endpoint.requests.length).toBeLessThanOrEqual(4)
  })
})

it('gives each of 2,000 subjects its own token, for less than 5 KiB', async () => {
  vi.useRealTimers()
  const fetch = async (_url: unknown, init?: RequestInit) => {
    const incoming = new URLSearchParams(init?.body as string).get('subject_token')
    return Response.json({ access_token: incoming, expires_in: 600 })
  }
  const pool = createTokenPool((subject: string) =>
    tokenExchange({ tokenEndpoint, fetch, subject, subjectToken: () => `token-of-${subject}` }),
  )
  await pool.for('first').getToken()
  await collectGarbage()
  const { heapUsed: before } = process.memoryUsage()
  const subjects = Array.from({ length: 2_000 }, (_, index) => `subject-${index}`)
  const values = await Promise.all(subjects.map(async (name) => (await pool.for(name).getToken()).value))
  expect(values).toEqual(subjects.map((name) => `token-of-${name}`))
  expect(pool.size).toBe(2_001)
  values.length = 0
  await collectGarbage()
  expect((process.memoryUsage().heapUsed - before) / 2_000).toBeLessThan(5 * 1_024)
})

it('createGrantSource adds a further grant', async () => {
  const endpoint = new ScriptedEndpoint()
  const source = createGrantSource(
    { tokenEndpoint, fetch: endpoint.fetch },
    {
      type: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
      proof: 'assertion',
      key: ['user'],
      parameters: () => ({ assertion: 'saml' }),
    },
  )
  await createTokenProvider(source).getToken()
  expect(formOf(endpoint)).toEqual({
    grant_type: 'urn:ietf:params:oauth:grant-type:saml2-bearer',
    assertion: 'saml',
  })
})
