import { describe, expect, it, vi } from 'vitest'
import {
  backendTokens,
  createMemoryTokenStore,
  createTokenProvider,
  type TokenEvent,
  type TokenProvider,
  type TokenSource,
} from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, grants, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

const responseWith = (members: object) => ({
  body: { access_token: 'token', token_type: 'Bearer', ...members },
})
const custom = (expiresIn: number): TokenSource => ({
  cacheKey: async () => 'own',
  requestToken: async () => ({ accessToken: 'own', tokenType: 'Bearer', scope: [], expiresIn }),
})

/** Calls every 20 ms, for a time; each call must return a token. */
async function callFor(ms: number, ...providers: TokenProvider[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 20) {
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(20)
    expect(new Set(calls.map(({ state }) => state))).toEqual(new Set(['resolved']))
  }
}

describe.each(grants)('with %s', (_grant, tokensOfGrant) => {
  describe('a token that has expired by its own expires_in', () => {
    it.each([0, '0', '-0', '0.0', 0.4, '0.4', -1, '-3600', -0.5, 1e-7, 1])(
      'of %j counts as valid for one second, without an event',
      async (expiresIn) => {
        const events: TokenEvent[] = []
        const endpoint = new ScriptedEndpoint(responseWith({ expires_in: expiresIn }))
        const tokens = tokensOfGrant(endpoint, {
          onEvent: (event) => events.push(event),
        })
        const token = await tokens.getToken()
        expect(token.expiresAt.getTime()).toBe(Date.now() + 1_000)
        expect(events.filter(({ type }) => type === 'lifetime_unknown')).toEqual([])
        await pass(999)
        expect((await tokens.getToken()).value).toBe('token')
        expect(endpoint.requests).toHaveLength(1)
        await pass(1)
        expect(tokens.peekToken()).toBeUndefined()
      },
    )

    it('is returned to all callers that waited for it, however late it arrives', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 0, latencyMs: 3_000 })
      const tokens = tokensOfGrant(endpoint)
      const calls = Array.from({ length: 3 }, () => watch(tokens.getToken()))
      await pass(3_000)
      expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1', 'token-1'])
      expect(tokens.peekToken()).toBeUndefined()
      expect(endpoint.requests).toHaveLength(1)
    })
  })
})

describe('a server that issues tokens of at most a second', () => {
  it.each<[string, Script]>([
    ['expires_in 0', { expiresIn: 0 }],
    ['expires_in 0.4', { expiresIn: 0.4 }],
    ['expires_in -5', { expiresIn: '-5' }],
    ['expires_in 1', { expiresIn: 1 }],
    ['expires_in 1.1', { expiresIn: 1.1 }],
    ['refresh_in 0.4', responseWith({ expires_in: 3_600, refresh_in: 0.4 })],
  ])('gets at most one request a second: %s', async (_name, script) => {
    const endpoint = new ScriptedEndpoint(script)
    await callFor(10_000, createTokenProvider(sourceOf(endpoint)))
    expect(endpoint.requests.length).toBeLessThanOrEqual(10)
    expect(endpoint.requests.length).toBeGreaterThan(8)
  })

  it.each([1, 500, 900, 999, 1_000, 60_000])(
    'gets at most one request a second if callers require %d ms',
    async (minimumValidityMs) => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 0 })
      const tokens = createTokenProvider(sourceOf(endpoint))
      for (let call = 0; call < 250; call++) {
        await tokens.getToken({ minimumValidityMs })
        await pass(20)
      }
      expect(endpoint.requests).toHaveLength(5)
    },
  )

  it.each([
    ['returns one token', () => 'own'],
    ['returns different tokens', () => `own-${Math.random()}`],
  ])(
    'gets at most one request a second from all processes that share a store if it %s',
    async (_name, value) => {
      const response = { tokenType: 'Bearer', scope: [], expiresIn: 0 } as const
      const requestToken = vi.fn(async () => ({ ...response, accessToken: value() }))
      const store = createMemoryTokenStore()
      const providers = [1, 2, 3].map(() => createTokenProvider({ ...custom(0), requestToken }, { store }))
      for (let call = 0; call < 250; call++) {
        const calls = providers.map((tokens) => watch(tokens.getToken()))
        await pass(20)
        for (const { value } of calls) {
          if (value) expect(value.expiresAt.getTime()).toBeLessThanOrEqual(Date.now() + 1_000)
        }
      }
      expect(requestToken.mock.calls.length).toBeLessThanOrEqual(5)
      expect(requestToken.mock.calls.length).toBeGreaterThanOrEqual(4)
    },
  )

  it('is asked again at once by forceRefresh', async () => {
    const endpoint = new ScriptedEndpoint({ expiresIn: 0 })
    const tokens = createTokenProvider(sourceOf(endpoint))
    for (let call = 0; call < 5; call++) await tokens.getToken({ forceRefresh: true })
    expect(endpoint.requests).toHaveLength(5)
  })
})

describe('a server that returns one token until it expires', () => {
  it('has its token used for at most a second longer', async () => {
    let until = 0
    let issued = 0
    const start = Date.now()
    const endpoint = new ScriptedEndpoint(() => {
      if (Date.now() >= until) {
        issued++
        until = Date.now() + 7_000
      }
      const expiresIn = Math.floor((until - Date.now()) / 1000)
      return {
        body: { access_token: `token-${issued}-${until}`, token_type: 'bearer', expires_in: expiresIn },
      }
    })
    const tokens = createTokenProvider(sourceOf(endpoint))
    while (Date.now() - start < 60_000) {
      const { value, expiresAt } = await tokens.getToken()
      const ends = Number(value.split('-')[2])
      expect(Date.now()).toBeLessThan(ends + 1_000)
      expect(expiresAt.getTime()).toBeLessThanOrEqual(ends + 1_000)
      await pass(130)
    }
    expect(issued).toBeGreaterThanOrEqual(8)
    expect(endpoint.requests.length).toBeLessThan(issued * 7)
  })
})

describe('an expired token', () => {
  it.each([0, -5, 0.2, Number.NEGATIVE_INFINITY])(
    'of a custom source (%d) is used for a second',
    async (seconds) => {
      const tokens = createTokenProvider(custom(seconds))
      await tokens.getToken()
      await pass(999)
      expect(tokens.peekToken()?.value).toBe('own')
      await pass(1)
      expect(tokens.peekToken()).toBeUndefined()
    },
  )

  it.each(['text' as never, Number.NaN, null as never])(
    'is not assumed if a custom source returns %j as its lifetime',
    async (seconds) => {
      const token = await createTokenProvider(custom(seconds)).getToken()
      expect(token.expiresAt.getTime()).toBe(Date.now() + 300_000)
    },
  )

  it('is not refreshed for each call because a custom source recommends it', async () => {
    let requests = 0
    const tokens = createTokenProvider({
      ...custom(3_600),
      requestToken: async () => {
        requests++
        return { accessToken: 'own', tokenType: 'Bearer', scope: [], expiresIn: 3_600, refreshIn: -1 }
      },
    })
    await callFor(5_000, tokens)
    expect(requests).toBe(1)
  })

  it('of a backend is used for a second', async () => {
    const endpoint = new ScriptedEndpoint({ expiresIn: 0 })
    const tokens = backendTokens({ url: 'https://app.example.com/token', fetch: endpoint.fetch })
    expect((await tokens.getToken()).expiresAt.getTime()).toBe(Date.now() + 1_000)
  })

  it('is not extended by the subject token that it was exchanged for', async () => {
    const exp = Date.now() / 1000 + 3_600
    const subjectToken = `${btoa('{}')}.${btoa(JSON.stringify({ exp }))}.signature`
    const endpoint = new ScriptedEndpoint({ expiresIn: 0 })
    const exchange = grants.find(([name]) => name === 'token exchange')![1]
    const tokens = exchange(endpoint, { subjectToken } as object)
    expect((await tokens.getToken()).expiresAt.getTime()).toBe(Date.now() + 1_000)
  })
})
