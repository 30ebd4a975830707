import { describe, expect, it } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants, unavailable, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  const forceRefresh = { forceRefresh: true }

  function start(script: Script) {
    const endpoint = new ScriptedEndpoint(script)
    return { endpoint, tokens: tokensOf(endpoint) }
  }

  describe('forceRefresh', () => {
    it('requests a token even if one is cached, and caches it', async () => {
      const { endpoint, tokens } = start({})
      await tokens.getToken()
      await expect(tokens.getToken(forceRefresh)).resolves.toMatchObject({ value: 'token-2' })
      await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
      expect(endpoint.requests).toHaveLength(2)
    })

    it('does not use the result of a request that began before the call', async () => {
      const { endpoint, tokens } = start({ latencyMs: 100 })
      const plain = watch(tokens.getToken())
      await pass(50)
      const forced = watch(tokens.getToken(forceRefresh))
      await pass(150)
      expect([plain.value?.value, forced.value?.value]).toEqual(['token-1', 'token-2'])
      expect(endpoint.mostInFlight).toBe(1)
    })

    it('waits for a request that began before the call, even if that request fails', async () => {
      const { tokens } = start((request) => ({
        latencyMs: 100,
        ...(request === 1 && { status: 400, body: '' }),
      }))
      const plain = watch(tokens.getToken())
      await pass(50)
      const forced = watch(tokens.getToken(forceRefresh))
      await pass(200)
      expect(plain.state).toBe('rejected')
      // Its own request ignores the cooldown.
      expect(forced.value?.value).toBe('token-2')
    })

    it('makes at most two requests for any number of concurrent calls', async () => {
      const { endpoint, tokens } = start({ latencyMs: 100 })
      const calls = Array.from({ length: 200 }, () => watch(tokens.getToken(forceRefresh)))
      await pass(200)
      expect(calls.every(({ state }) => state === 'resolved')).toBe(true)
      expect(endpoint.requests.length).toBeLessThanOrEqual(2)
      expect(endpoint.mostInFlight).toBe(1)
    })

    it('keeps the cached token in use during the request and after a failure', async () => {
      const { tokens } = start((request) => (request === 1 ? {} : { ...unavailable, latencyMs: 100 }))
      await tokens.getToken()
      const forced = watch(tokens.getToken(forceRefresh))
      await pass(50)
      expect((await tokens.getToken()).value).toBe('token-1')
      await pass(30_000)
      expect(forced).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
      expect((await tokens.getToken()).value).toBe('token-1')
    })

    it('shares its result with other callers', async () => {
      const { endpoint, tokens } = start({ latencyMs: 100 })
      const calls = [watch(tokens.getToken(forceRefresh)), watch(tokens.getToken())]
      await pass(100)
      expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1'])
      expect(endpoint.requests).toHaveLength(1)
    })

    it('includes the wait for an older request in its timeout', async () => {
      const endpoint = new ScriptedEndpoint({ latencyMs: 20_000 })
      const tokens = tokensOf(endpoint, { attemptTimeoutMs: 30_000 })
      const plain = watch(tokens.getToken())
      const forced = watch(tokens.getToken(forceRefresh))
      await pass(29_900)
      expect([plain.state, forced.state]).toEqual(['resolved', 'pending'])
      await pass(200)
      expect(forced).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
      expect(endpoint.cancelled).toBe(1)
    })

    it('fails no other caller after its own timeout', async () => {
      const endpoint = new ScriptedEndpoint({ latencyMs: 20_000 })
      const tokens = tokensOf(endpoint, { attemptTimeoutMs: 30_000 })
      const plain = watch(tokens.getToken())
      const forced = watch(tokens.getToken(forceRefresh))
      await pass(20_000)
      tokens.reject(plain.value!)
      const later = [watch(tokens.getToken()), watch(tokens.getToken())]
      await pass(10_100)
      expect([forced, ...later].map(({ state }) => state)).toEqual(['rejected', 'pending', 'pending'])
      await pass(9_900)
      expect(later.map(({ value }) => value?.value)).toEqual(['token-2', 'token-2'])
    })

    it('can be aborted while it waits for an older request', async () => {
      const { endpoint, tokens } = start({ latencyMs: 100 })
      const plain = watch(tokens.getToken())
      const controller = new AbortController()
      const forced = watch(tokens.getToken({ ...forceRefresh, signal: controller.signal }))
      await pass(50)
      controller.abort('enough')
      await pass(0)
      expect(forced).toEqual({ state: 'rejected', error: 'enough' })
      await pass(200)
      expect(plain.state).toBe('resolved')
      expect(endpoint.requests).toHaveLength(1)
    })
  })
})
