import { describe, expect, it, vi } from 'vitest'
import {
  createTokenProvider,
  TokenError,
  type TokenErrorKind,
  type TokenEvent,
  backendTokens,
  type TokenProvider,
} from '@tokenwell/core'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import {
  ScriptedEndpoint,
  tokensOf,
  grants,
  unavailable,
  wrongSecret,
  type Script,
} from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOfGrant) => {
  async function failure(script: Script) {
    const endpoint = new ScriptedEndpoint(script)
    const events: TokenEvent[] = []
    const tokens = tokensOfGrant(endpoint, { onEvent: (event) => events.push(event) })
    const call = watch(tokens.getToken())
    await pass(30_000)
    expect(call.error).toBeInstanceOf(TokenError)
    return { endpoint, events, error: call.error as TokenError }
  }

  it('of a source that was aborted causes no cooldown', async () => {
    const requestToken = vi
      .fn(() => Promise.resolve({ accessToken: 'token', tokenType: 'Bearer' as const, scope: [] }))
      .mockRejectedValueOnce(new TokenError({ kind: 'aborted', message: 'The page was closed.' }))
    const tokens = createTokenProvider({ cacheKey: () => Promise.resolve('key'), requestToken })
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'aborted' })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token' })
  })

  const malformed = { status: 200, body: '<html>' }
  const configuration = { status: 404, body: '' }
  const throttledForLong = { status: 429, headers: { 'retry-after': '60' }, body: '' }

  describe('attempts', () => {
    it.each<[TokenErrorKind, Script, number]>([
      ['credentials', wrongSecret, 1],
      ['configuration', configuration, 1],
      ['malformed', malformed, 1],
      ['throttled', throttledForLong, 1],
      ['throttled', { status: 429, body: '' }, 3],
      ['unavailable', unavailable, 3],
      ['unavailable', { error: new TypeError('fetch failed') }, 3],
    ])('of kind %s (%j) are made %d times', async (kind, script, attempts) => {
      const { endpoint, error } = await failure(script)
      expect(error).toMatchObject({ kind, attempts })
      expect(endpoint.requests).toHaveLength(attempts)
    })

    it('stop after a success', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request < 3 ? unavailable : {}))
      const tokens = tokensOfGrant(endpoint)
      const call = watch(tokens.getToken())
      await pass(5_000)
      expect(call.value?.value).toBe('token-3')
    })

    it('stop after a permanent failure', async () => {
      const { endpoint, error } = await failure((request) => (request === 1 ? unavailable : wrongSecret))
      expect(error).toMatchObject({ kind: 'credentials', attempts: 2 })
      expect(endpoint.requests).toHaveLength(2)
    })

    it('follow each other at random, growing intervals', async () => {
      const delays: number[][] = []
      for (const chance of [0, 0.5, 0.999_999]) {
        fixRandom(chance)
        const { events } = await failure(unavailable)
        delays.push(events.flatMap((event) => (event.type === 'token_failed' ? [event.retryInMs ?? -1] : [])))
      }
      expect(delays[0]!.slice(0, 2)).toEqual([500, 2_000])
      expect(delays[1]![1]!).toBeGreaterThan(delays[1]![0]!)
      expect(delays[2]![0]!).toBeGreaterThan(delays[1]![0]!)
      expect(delays[2]![1]!).toBeLessThanOrEqual(10_000)
    })

    it.each([0, 0.999_999])('outlast an endpoint that is down for 2 s, at random %d', async (chance) => {
      fixRandom(chance)
      const endpoint = new ScriptedEndpoint(unavailable)
      const tokens = tokensOfGrant(endpoint)
      const calls = [watch(tokens.getToken()), watch(tokens.getToken())]
      await pass(2_000)
      endpoint.script = {}
      await pass(4_000)
      expect(calls.map(({ value }) => value?.value)).toEqual(['token-3', 'token-3'])
    })

    it('leave half of the remaining time to the next one', async () => {
      fixRandom(0.999_999)
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? unavailable : { latencyMs: 400 }))
      const call = watch(tokensOfGrant(endpoint, { timeoutMs: 1_000 }).getToken())
      await pass(1_000)
      expect(call.value?.value).toBe('token-2')
    })

    it('do not exceed maxAttempts', async () => {
      const endpoint = new ScriptedEndpoint(unavailable)
      const tokens = tokensOfGrant(endpoint, { maxAttempts: 1 })
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable', attempts: 1 })
      expect(endpoint.requests).toHaveLength(1)
    })

    it('report the URL and the error code if the endpoint cannot be reached', async () => {
      const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
      const { error } = await failure({ error: new TypeError('fetch failed', { cause }) })
      expect(error.message).toBe(
        'Could not reach the token endpoint https://auth.example.com/token (ECONNREFUSED).',
      )
      expect(error.status).toBeUndefined()
    })

    it('report the error code if several addresses were tried', async () => {
      const errors = [Object.assign(new Error('no route'), { code: 'EHOSTUNREACH' })]
      const { error } = await failure({
        error: new TypeError('fetch failed', { cause: new AggregateError(errors) }),
      })
      expect(error.message).toContain('(EHOSTUNREACH)')
    })

    it('report the code of the last error in a chain of five, but not of a longer one', async () => {
      const nested = (depth: number): object =>
        depth ? { cause: nested(depth - 1) } : { code: 'ECONNRESET' }
      expect((await failure({ error: nested(4) })).error.message).toContain('(ECONNRESET)')
      expect((await failure({ error: nested(5) })).error.message).toContain('(unknown error)')
    })

    it('report no code if the name of the error is not text', async () => {
      const { error } = await failure({ error: { name: 5 } })
      expect(error.message).toContain('(unknown error)')
    })

    it.each([['a string'], [undefined], [null], [42], [{ code: 'has blanks in it' }], [Object.create(null)]])(
      'fail with a TokenError even if %j is thrown',
      async (thrown) => {
        const { error } = await failure({ error: thrown })
        expect(error).toMatchObject({
          kind: 'unavailable',
          attempts: 3,
          message: expect.stringContaining('(unknown error)') as string,
        })
      },
    )
  })

  describe('a custom source', () => {
    const failing = (thrown: unknown) =>
      createTokenProvider(
        { cacheKey: () => Promise.resolve('key'), requestToken: () => Promise.reject(thrown) },
        { maxAttempts: 1 },
      )

    it('decides by the kind of the TokenError that it throws', async () => {
      const error = new TokenError({ kind: 'credentials', message: 'no such tenant' })
      await expect(failing(error).getToken()).rejects.toMatchObject({
        kind: 'credentials',
        message: 'no such tenant',
      })
    })

    it('is unavailable when it throws any other error, whose message is not shown', async () => {
      const error = await failing(new RangeError('password hunter2'))
        .getToken()
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ kind: 'unavailable', message: 'The token source failed (RangeError).' })
    })

    it('may throw before it returns a promise', async () => {
      const tokens = createTokenProvider(
        {
          cacheKey: () => Promise.resolve('key'),
          requestToken: () => {
            throw new TokenError({ kind: 'configuration', message: 'no address' })
          },
        },
        { maxAttempts: 1 },
      )
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'configuration' })
    })

    it.each([
      [undefined],
      [null],
      ['token'],
      [{}],
      [{ accessToken: '' }],
      [{ accessToken: 42 }],
      [{ accessToken: 'a\r\nX-Evil: 1' }],
      [{ accessToken: ' a' }],
    ])('fails with the response %j', async (response) => {
      const tokens = createTokenProvider({
        cacheKey: () => Promise.resolve('key'),
        requestToken: () => Promise.resolve(response as never),
      })
      const error: unknown = await tokens.getToken().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'TokenError', kind: 'malformed', attempts: 1 })
      expect((error as Error).message).toBe(
        'The token source returned no valid access token. Check its requestToken().',
      )
      expect(tokens.peekToken()).toBeUndefined()
    })

    it.each([[undefined], ['3600'], [Number.NaN]])(
      'gets a lifetime of 300 s with expiresIn %j',
      async (expiresIn) => {
        const response = { accessToken: 'own', tokenType: 'Bearer', expiresIn, scope: [] } as never
        const tokens = createTokenProvider({
          cacheKey: () => Promise.resolve('key'),
          requestToken: () => Promise.resolve(response),
        })
        const token = await tokens.getToken()
        expect(token.expiresAt.getTime() - Date.now()).toBe(300_000)
      },
    )
  })
})

const issuer = 'https://login.example.com'
// Metadata of an issuer and a token at once.
const body = {
  issuer,
  token_endpoint: `${issuer}/token`,
  access_token: 'token',
  token_type: 'Bearer',
  expires_in: 60,
}

describe.each<[string, (endpoint: ScriptedEndpoint) => TokenProvider]>([
  ['client credentials', (endpoint) => tokensOf(endpoint)],
  ['client credentials of an issuer', (endpoint) => tokensOf(endpoint, { tokenEndpoint: undefined, issuer })],
  ['a backend', ({ fetch }) => backendTokens({ url: 'https://app.example.com/token', fetch })],
])('a provider of tokens from %s', (_name, create) => {
  it.each(['DYNAMIC_SERVER_USAGE', 'HANGING_PROMISE_REJECTION'])(
    'passes on the error %s, which controls rendering in Next.js, without a retry or a cooldown',
    async (digest) => {
      const signal = Object.assign(new Error('used no-store fetch'), { digest })
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { error: signal } : { body }))
      const tokens = create(endpoint)
      const first = watch(tokens.getToken())
      await pass(100)
      expect(first.error).toBe(signal)
      expect(endpoint.requests).toHaveLength(1)
      const second = watch(tokens.getToken())
      await pass(100)
      expect(second.value).toMatchObject({ tokenType: 'Bearer' })
    },
  )
})
