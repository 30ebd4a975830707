import { describe, expect, it } from 'vitest'
import { type TokenProviderOptions } from '@tokenwell/core'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  /** A provider with a cached token of this lifetime; refreshes take a second. */
  async function started(expiresIn: number, options?: TokenProviderOptions, latencyMs = 1_000) {
    const endpoint = new ScriptedEndpoint((request) => ({
      expiresIn,
      latencyMs: request === 1 ? 0 : latencyMs,
    }))
    const tokens = tokensOf(endpoint, options)
    await tokens.getToken()
    return { endpoint, tokens }
  }

  describe('the four states of a token', () => {
    it('has no token at first, and requests one on the first call', async () => {
      const endpoint = new ScriptedEndpoint()
      const tokens = tokensOf(endpoint)
      await pass(60_000)
      expect(tokens.peekToken()).toBeUndefined()
      expect(endpoint.requests).toHaveLength(0)
      await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-1', tokenType: 'Bearer' })
      expect(endpoint.requests).toHaveLength(1)
    })

    it('returns a fresh token without a request', async () => {
      const { endpoint, tokens } = await started(3_600)
      await pass(3_600_000 - 330_000 - 1)
      expect((await tokens.getToken()).value).toBe('token-1')
      expect(tokens.peekToken()?.value).toBe('token-1')
      await pass(5_000)
      expect(endpoint.requests).toHaveLength(1)
    })

    it('returns a token that is due for refresh at once, with one refresh in the background', async () => {
      const { endpoint, tokens } = await started(3_600)
      await pass(3_600_000 - 270_000)
      for (let call = 0; call < 50; call++) expect((await tokens.getToken()).value).toBe('token-1')
      expect(endpoint.requests).toHaveLength(2)
      await pass(1_000)
      expect((await tokens.getToken()).value).toBe('token-2')
      expect(endpoint.requests).toHaveLength(2)
    })

    it('lets callers wait for the refresh of an expiring token', async () => {
      const { tokens } = await started(3_600)
      await pass(3_600_000 - 9_999)
      expect(tokens.peekToken()).toBeUndefined()
      const call = watch(tokens.getToken())
      await pass(999)
      expect(call.state).toBe('pending')
      await pass(1)
      expect(call.value?.value).toBe('token-2')
    })

    it('lets callers of an expiring token join the refresh in the background', async () => {
      const { endpoint, tokens } = await started(100, undefined, 9_000)
      await pass(90_000)
      await tokens.getToken()
      await pass(6_000)
      const calls = [watch(tokens.getToken()), watch(tokens.getToken())]
      await pass(3_000)
      expect(calls.map(({ value }) => value?.value)).toEqual(['token-2', 'token-2'])
      expect(endpoint.requests).toHaveLength(2)
    })

    it('does not refresh without calls', async () => {
      const { endpoint } = await started(60)
      await pass(24 * 3_600_000)
      expect(endpoint.requests).toHaveLength(1)
    })

    it('never starts a refresh when peeking', async () => {
      const { endpoint, tokens } = await started(100)
      await pass(90_000)
      expect(tokens.peekToken()?.value).toBe('token-1')
      await pass(10_000)
      expect(tokens.peekToken()).toBeUndefined()
      await pass(10_000)
      expect(endpoint.requests).toHaveLength(1)
    })
  })

  describe('the time for which a token is fresh and usable', () => {
    /** When a token stops being fresh and stops being returned, in milliseconds since its request. */
    async function windowsOf(expiresIn: number, options?: TokenProviderOptions) {
      const { tokens } = await started(expiresIn, options, 1e9)
      let freshMs: number | undefined
      let elapsed = 0
      tokens.subscribe(({ type }) => type === 'token_requested' && (freshMs ??= elapsed))
      while (tokens.peekToken()) {
        await tokens.getToken()
        await pass(expiresIn)
        elapsed += expiresIn
      }
      return { freshMs: freshMs ?? elapsed, usableMs: elapsed }
    }

    it.each([
      // expires_in, refreshAhead, expiryMargin: by default a fifth (300 s at most) and a twentieth (10 s at most).
      [3_600, 300, 10],
      [1_000, 200, 10],
      [100, 20, 5],
      [2, 0.4, 0.1],
    ])('for a lifetime of %d s: refresh %d s ahead, margin %d s', async (expiresIn, ahead, margin) => {
      fixRandom(0.5)
      const { freshMs, usableMs } = await windowsOf(expiresIn)
      // Checked a thousand times in a lifetime.
      expect(Math.abs(freshMs - 1000 * (expiresIn - ahead))).toBeLessThanOrEqual(expiresIn)
      expect(Math.abs(usableMs - 1000 * (expiresIn - margin))).toBeLessThanOrEqual(expiresIn)
    })

    it.each([
      ['less', 0, 0.9],
      ['more', 0.999_999_9, 1.1],
    ])('spreads the refresh by up to a tenth: %s', async (_name, chance, factor) => {
      fixRandom(chance)
      const { freshMs, usableMs } = await windowsOf(100)
      expect(Math.abs(freshMs - (100_000 - 20_000 * factor))).toBeLessThanOrEqual(100)
      expect(usableMs).toBe(95_000)
    })

    it('limits the windows to a half and a quarter of the lifetime', async () => {
      const minutes = 15 * 60
      const windows = { refreshAheadMs: minutes * 1000, expiryMarginMs: minutes * 1000 }
      expect(await windowsOf(minutes, windows)).toEqual({ freshMs: 450_000, usableMs: 675_000 })
    })

    it('follows refreshAheadMs and expiryMarginMs', async () => {
      fixRandom(0.5)
      const windows = await windowsOf(1_000, { refreshAheadMs: 100_000, expiryMarginMs: 50_000 })
      expect(windows).toEqual({ freshMs: 900_000, usableMs: 950_000 })
    })

    it('does not refresh in the background with a window of zero', async () => {
      const { freshMs, usableMs } = await windowsOf(100, { refreshAheadMs: 0, expiryMarginMs: 0 })
      expect([freshMs, usableMs]).toEqual([100_000, 100_000])
    })

    it('is never fresh for longer than it is usable', async () => {
      const { endpoint, tokens } = await started(100, { refreshAheadMs: 1_000, expiryMarginMs: 20_000 })
      await pass(81_000)
      const call = watch(tokens.getToken())
      await pass(0)
      expect(call.state).toBe('pending')
      expect(endpoint.requests).toHaveLength(2)
    })

    it('uses a token of two seconds more than once', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 2 })
      const tokens = tokensOf(endpoint)
      for (let call = 0; call < 200; call++) {
        await tokens.getToken()
        await pass(100)
      }
      expect(endpoint.requests.length).toBeLessThanOrEqual(14)
    })
  })
})
