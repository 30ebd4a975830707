import { describe, expect, it } from 'vitest'
import { type TokenEvent, type TokenProviderOptions } from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants, type ScriptedResponse } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  async function lifetimeOf(response: ScriptedResponse, options?: TokenProviderOptions) {
    const events: TokenEvent[] = []
    const began = Date.now()
    const tokens = tokensOf(new ScriptedEndpoint(response), {
      onEvent: (event) => events.push(event),
      ...options,
    })
    const token = await tokens.getToken()
    const unknown = events.filter(({ type }) => type === 'lifetime_unknown')
    return { lifetimeMs: token.expiresAt.getTime() - began, unknown, tokens }
  }

  const withoutLifetime = { access_token: 'token', token_type: 'Bearer' }

  it('is refreshed when the server recommends it, in seconds', async () => {
    const body = { ...withoutLifetime, expires_in: 3_600, refresh_in: 600 }
    const endpoint = new ScriptedEndpoint({ body })
    const tokens = tokensOf(endpoint)
    for (const [waitMs, requests] of [
      [0, 1],
      [500_000, 1],
      [200_000, 2],
    ] as const) {
      await pass(waitMs)
      await tokens.getToken()
      await pass(1_000)
      expect(endpoint.requests).toHaveLength(requests)
    }
  })

  describe('a lifetime', () => {
    it.each([
      ['a number', 3_599, 3_599_000],
      ['a string', '3599', 3_599_000],
      ['a string with blanks', ' 60 ', 60_000],
      ['a fraction', '1.5', 1_500],
      ['a year', 365 * 86_400, 365 * 86_400_000],
    ])('is taken from %s', async (_name, expiresIn, expected) => {
      const { lifetimeMs, unknown } = await lifetimeOf({ expiresIn })
      expect(lifetimeMs).toBe(expected)
      expect(unknown).toEqual([])
    })

    it.each([
      ['null', null],
      ['empty', ''],
      ['blank', '   '],
      ['no number', 'soon'],
      ['half a number', '36oo'],
      ['hexadecimal', '0x10'],
      ['exponential', '1e9'],
      ['a sign alone', '-'],
      ['a number with a sign too many', '--1'],
      ['not a number', 'NaN'],
      ['infinite', 'Infinity'],
      ['true', true],
      ['a list', [3_600]],
      ['an object', { seconds: 3_600 }],
    ])('that is %s becomes 300 s, and an event is emitted', async (_name, expiresIn) => {
      const { lifetimeMs, unknown } = await lifetimeOf({
        body: { ...withoutLifetime, expires_in: expiresIn },
      })
      expect(lifetimeMs).toBe(300_000)
      expect(unknown).toEqual([
        { type: 'lifetime_unknown', requestId: 1, problem: 'missing', assumedMs: 300_000, label: 'client' },
      ])
    })

    it('that overflows a number becomes 300 s', async () => {
      const { lifetimeMs } = await lifetimeOf({
        body: '{"access_token":"t","token_type":"Bearer","expires_in":1e999}',
      })
      expect(lifetimeMs).toBe(300_000)
    })

    it('that is missing is never infinite', async () => {
      const { tokens, unknown } = await lifetimeOf({ body: withoutLifetime })
      await pass(300_000)
      expect(tokens.peekToken()).toBeUndefined()
      expect(unknown).toHaveLength(1)
    })

    it('that is missing becomes defaultLifetimeMs', async () => {
      const { lifetimeMs } = await lifetimeOf({ body: withoutLifetime }, { defaultLifetimeMs: 5_000 })
      expect(lifetimeMs).toBe(5_000)
    })

    it.each([
      [299, 0],
      [300, 0],
      [301, 1],
    ])(
      'that is missing is %d s for a JWT that is valid for that long, up to 300 s',
      async (seconds, events) => {
        const iat = Date.now() / 1000 + 60
        const jwt = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ iat, exp: iat + seconds }))}.signature`
        const { lifetimeMs, unknown } = await lifetimeOf({ body: { ...withoutLifetime, access_token: jwt } })
        expect(lifetimeMs).toBe(Math.min(seconds, 300) * 1_000)
        expect(unknown).toHaveLength(events)
      },
    )

    it('that is missing is read from the other claim if a JWT was issued when it expires', async () => {
      const exp = Date.now() / 1000 + 100
      const jwt = `${btoa('{}')}.${btoa(JSON.stringify({ iat: exp, exp }))}.signature`
      const { lifetimeMs } = await lifetimeOf({ body: { ...withoutLifetime, access_token: jwt } })
      expect(lifetimeMs).toBe(100_000)
    })

    it.each([[365 * 86_400 + 1], [4_102_444_800], ['99999999999999999999']])(
      'of %s s is limited to 365 days, and an event is emitted',
      async (expiresIn) => {
        const { lifetimeMs, unknown } = await lifetimeOf({ expiresIn })
        expect(lifetimeMs).toBe(365 * 86_400_000)
        expect(unknown).toEqual([
          {
            type: 'lifetime_unknown',
            requestId: 1,
            problem: 'too_long',
            assumedMs: 365 * 86_400_000,
            label: 'client',
          },
        ])
      },
    )

    it('is counted from the moment the request was sent', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 10, latencyMs: 4_000 })
      const tokens = tokensOf(endpoint, { expiryMarginMs: 1_000 })
      const began = Date.now()
      const call = watch(tokens.getToken())
      await pass(4_000)
      expect(call.value?.expiresAt.getTime()).toBe(began + 10_000)
      await pass(4_999)
      expect(tokens.peekToken()).toBeDefined()
      await pass(1)
      expect(tokens.peekToken()).toBeUndefined()
    })

    it('is not extended by an issue date in the future', async () => {
      const body = { ...withoutLifetime, expires_in: 60, issued_at: String(Date.now() + 3_600_000) }
      const { lifetimeMs, tokens } = await lifetimeOf({ body })
      expect(lifetimeMs).toBe(60_000)
      await pass(60_000)
      expect(tokens.peekToken()).toBeUndefined()
    })

    it('is read in milliseconds if the options say so', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: '3599000' })
      const tokens = tokensOf(endpoint, { expiresInUnit: 'milliseconds' })
      const token = await tokens.getToken()
      expect(token.expiresAt.getTime() - Date.now()).toBe(3_599_000)
      expect(token.response.expiresIn).toBe(3_599)
    })

    it('that is over when the response arrives causes an error instead of an expired token', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 2, latencyMs: 3_000 })
      const tokens = tokensOf(endpoint)
      const call = watch(tokens.getToken())
      await pass(30_000)
      const message = 'The token (lifetime 2 s) expired before the response of the token endpoint arrived.'
      expect(call).toMatchObject({ state: 'rejected', error: { kind: 'unavailable', message } })
      expect(tokens.peekToken()).toBeUndefined()
    })
  })
})
