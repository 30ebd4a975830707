import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { type TokenErrorKind } from '@tokenwell/core'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import {
  ScriptedEndpoint,
  grants,
  unavailable,
  wrongSecret,
  type ScriptedResponse,
} from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  const wrongPath = { status: 404, body: '' }
  const html = { status: 200, body: '<html>' }

  /** The cooldowns after several failures in a row, in milliseconds. */
  async function cooldownsAfter(response: ScriptedResponse, failures: number): Promise<number[]> {
    fixRandom(0)
    const endpoint = new ScriptedEndpoint(response)
    const tokens = tokensOf(endpoint, { maxAttempts: 1 })
    const { requests } = endpoint
    while (requests.length <= failures) {
      await tokens.getToken().catch(() => {})
      await pass(1_000)
    }
    return requests.slice(1).map(({ atMs }, index) => atMs - requests[index]!.atMs)
  }

  describe('a cooldown', () => {
    it.each<[TokenErrorKind, ScriptedResponse, number[]]>([
      ['credentials', wrongSecret, [1_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000]],
      ['configuration', wrongPath, [5_000, 10_000, 20_000, 40_000, 60_000, 60_000]],
      ['unavailable', unavailable, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
      ['malformed', html, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]],
    ])('after a %s failure grows with each failure in a row', async (kind, response, expected) => {
      const tokens = tokensOf(new ScriptedEndpoint(response), { maxAttempts: 1 })
      await expect(tokens.getToken()).rejects.toMatchObject({ kind })
      expect(await cooldownsAfter(response, expected.length)).toEqual(expected)
    })

    it('after a throttled request without Retry-After is a second', async () => {
      const endpoint = new ScriptedEndpoint({ status: 429, body: '' })
      const tokens = tokensOf(endpoint, { maxAttempts: 1, timeoutMs: 900 })
      await tokens.getToken().catch(() => {})
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'throttled', retryAfterMs: 1_000 })
    })

    it('rejects an aborted caller with its own reason', async () => {
      const tokens = tokensOf(new ScriptedEndpoint(wrongPath))
      await tokens.getToken().catch(() => {})
      let left = 0
      for (let turns = 0; turns < 20; turns++) {
        const controller = new AbortController()
        const call = tokens.getToken({ signal: controller.signal })
        call.catch(() => {})
        for (let turn = 0; turn < turns; turn++) await Promise.resolve()
        if (!inspect(call).includes('<pending>')) break
        left++
        controller.abort('left')
        await expect(call).rejects.toBe('left')
      }
      expect(left).toBeGreaterThan(2)
    })

    it('rejects with the facts of the failure and the time of the next attempt', async () => {
      const endpoint = new ScriptedEndpoint({
        status: 401,
        body: { fault: { detail: { errorcode: 'oauth.v2.InvalidClientIdentifier' } } },
      })
      const tokens = tokensOf(endpoint)
      await tokens.getToken().catch(() => {})
      await pass(1_000)
      const first: unknown = await tokens.getToken().catch((error: unknown) => error)
      await pass(10_000)
      const second: unknown = await tokens.getToken().catch((error: unknown) => error)
      const facts = {
        kind: 'credentials',
        status: 401,
        vendorCode: 'oauth.v2.InvalidClientIdentifier',
        attempts: 1,
      }
      expect(first).toMatchObject(facts)
      expect(second).toMatchObject(facts)
      expect((second as Error).message).toBe(`${(first as Error).message} Next attempt in 20 s.`)
      expect(second).not.toBe(first)
    })

    it('starts at its first duration again after a success', async () => {
      fixRandom(0)
      const endpoint = new ScriptedEndpoint(wrongPath)
      const tokens = tokensOf(endpoint, { maxAttempts: 1 })
      for (const cooldownMs of [5_000, 10_000]) {
        await tokens.getToken().catch(() => {})
        await pass(cooldownMs)
      }
      endpoint.script = { expiresIn: 10 }
      await tokens.getToken()
      await pass(10_000)
      endpoint.script = wrongPath
      await tokens.getToken().catch(() => {})
      await pass(5_000)
      endpoint.script = {}
      await expect(tokens.getToken()).resolves.toBeDefined()
    })

    it('limits a wrong secret to two requests for 1,000 calls in ten seconds', async () => {
      const endpoint = new ScriptedEndpoint(wrongSecret)
      const tokens = tokensOf(endpoint)
      for (let call = 0; call < 1_000; call++) {
        await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
        await pass(10)
      }
      // The first rejection may be the server's fault, so one retry comes early.
      expect(endpoint.requests.map(({ atMs }) => atMs - endpoint.requests[0]!.atMs)).toEqual([0, 1_000])
    })

    it('does not apply to a forced refresh', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? wrongSecret : {}))
      const tokens = tokensOf(endpoint)
      await tokens.getToken().catch(() => {})
      expect((await tokens.getToken({ forceRefresh: true })).value).toBe('token-2')
    })

    it('is dropped by reset(), and so is the cached token', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request <= 2 ? wrongSecret : {}))
      const tokens = tokensOf(endpoint)
      await tokens.getToken().catch(() => {})
      await pass(1_000)
      await tokens.getToken().catch(() => {})
      tokens.reset()
      expect((await tokens.getToken()).value).toBe('token-3')
      tokens.reset()
      expect(tokens.peekToken()).toBeUndefined()
      expect((await tokens.getToken()).value).toBe('token-4')
    })

    it('does not apply to a call that can share the request of a forced one', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? wrongSecret : { latencyMs: 100 }))
      const tokens = tokensOf(endpoint)
      await tokens.getToken().catch(() => {})
      const calls = [watch(tokens.getToken({ forceRefresh: true })), watch(tokens.getToken())]
      await pass(100)
      expect(calls.map(({ value }) => value?.value)).toEqual(['token-2', 'token-2'])
    })

    it('is dropped by reset(), which also keeps the token of a pending request out of the cache', async () => {
      const tokens = tokensOf(new ScriptedEndpoint({ latencyMs: 100 }))
      const call = watch(tokens.getToken())
      await pass(10)
      tokens.reset()
      await pass(90)
      expect(call.value?.value).toBe('token-1')
      expect(tokens.peekToken()).toBeUndefined()
    })

    it('is not caused by a request that was pending at reset()', async () => {
      const endpoint = new ScriptedEndpoint((request) =>
        request === 1 ? { ...wrongSecret, latencyMs: 100 } : {},
      )
      const tokens = tokensOf(endpoint)
      const call = watch(tokens.getToken())
      await pass(10)
      tokens.reset()
      await pass(90)
      expect(call.state).toBe('rejected')
      expect((await tokens.getToken()).value).toBe('token-2')
    })

    it.each([
      [{ status: 503, body: '', headers: { 'retry-after': '40' } }, 40_000],
      [{ status: 503, body: '', headers: { 'retry-after': '3600' } }, 60_000],
    ])('follows Retry-After up to a minute: %j', async (response, expectedMs) => {
      expect(await cooldownsAfter(response, 1)).toEqual([expectedMs])
    })

    it('applies to one provider only', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? wrongSecret : {}))
      await tokensOf(endpoint)
        .getToken()
        .catch(() => {})
      await expect(tokensOf(endpoint).getToken()).resolves.toBeDefined()
    })
  })

  describe('a valid token whose refresh fails', () => {
    it('is returned until a refresh succeeds', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { expiresIn: 1_000 } : unavailable))
      const tokens = tokensOf(endpoint)
      await tokens.getToken()
      await pass(850_000)
      for (let second = 0; second < 60; second++) {
        expect((await tokens.getToken()).value).toBe('token-1')
        await pass(1_000)
      }
      endpoint.script = { expiresIn: 1_000 }
      for (let second = 0; second < 60; second++) {
        await tokens.getToken()
        await pass(1_000)
      }
      expect((await tokens.getToken()).value).not.toBe('token-1')
    })

    it('is refreshed again after 1 to 60 s, less often with each failure in a row', async () => {
      const endpoint = new ScriptedEndpoint((request) =>
        request === 1 ? { expiresIn: 86_400 } : unavailable,
      )
      const tokens = tokensOf(endpoint, { maxAttempts: 1, refreshAheadMs: 40_000_000 })
      await tokens.getToken()
      await pass(60_000_000)
      for (let second = 0; second < 7_200; second++) {
        await tokens.getToken()
        await pass(1_000)
      }
      const pauses = endpoint.requests
        .slice(2)
        .map(({ atMs }, index) => atMs - endpoint.requests[index + 1]!.atMs)
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000)
      expect(Math.max(...pauses)).toBeLessThanOrEqual(61_000)
      // Two hours at 30 s on average.
      expect(endpoint.requests.length).toBeGreaterThan(120)
      expect(endpoint.requests.length).toBeLessThan(500)
    })

    it('is not refreshed again within a second', async () => {
      fixRandom(0)
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { expiresIn: 1_000 } : unavailable))
      const tokens = tokensOf(endpoint, { maxAttempts: 1 })
      await tokens.getToken()
      await pass(850_000)
      for (const ms of [0, 500, 490]) {
        await pass(ms)
        await tokens.getToken()
      }
      await pass(0)
      expect(endpoint.requests).toHaveLength(2)
      await pass(10)
      await tokens.getToken()
      await pass(0)
      expect(endpoint.requests).toHaveLength(3)
      // Nor later than chance has it, because callers still have a token.
      await pass(1_000)
      await tokens.getToken()
      await pass(0)
      expect(endpoint.requests).toHaveLength(4)
    })

    it('is not refreshed with rejected credentials before the end of the cooldown', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { expiresIn: 1_000 } : wrongSecret))
      const tokens = tokensOf(endpoint)
      await tokens.getToken()
      await pass(850_000)
      for (let second = 0; second < 89; second++) {
        await tokens.getToken()
        await pass(1_000)
      }
      // Immediately, as an early retry, then after 30 s.
      expect(endpoint.requests).toHaveLength(4)
    })
  })
})
