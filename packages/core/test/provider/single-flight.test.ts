import { getEventListeners } from 'node:events'
import { describe, expect, it, vi } from 'vitest'
import { createTokenProvider } from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { never, ScriptedEndpoint, grants, unavailable, wrongSecret } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  const abortedBy = (controller: AbortController) => ({ signal: controller.signal })

  describe('single-flight', () => {
    it('makes one request for any number of callers, which share one token', async () => {
      const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
      const tokens = tokensOf(endpoint)
      const calls = Array.from({ length: 10_000 }, () => tokens.getToken())
      await pass(100)
      expect(new Set(await Promise.all(calls)).size).toBe(1)
      expect(endpoint.requests).toHaveLength(1)
    })

    it('fails all its callers with one error, after one set of attempts', async () => {
      const endpoint = new ScriptedEndpoint({ ...wrongSecret, latencyMs: 100 })
      const tokens = tokensOf(endpoint)
      const calls = Array.from({ length: 100 }, () => watch(tokens.getToken()))
      await pass(100)
      expect(calls.every(({ error }) => (error as { kind: string }).kind === 'credentials')).toBe(true)
      expect(endpoint.requests).toHaveLength(1)
    })

    it('lets callers join between two attempts', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? unavailable : { latencyMs: 100 }))
      const tokens = tokensOf(endpoint)
      const first = watch(tokens.getToken())
      await pass(1)
      const second = watch(tokens.getToken())
      await pass(2_000)
      expect([first.value?.value, second.value?.value]).toEqual(['token-2', 'token-2'])
      expect(endpoint.mostInFlight).toBe(1)
    })

    it('does not apply across providers', async () => {
      const endpoint = new ScriptedEndpoint()
      const providers = [tokensOf(endpoint), tokensOf(endpoint)]
      await Promise.all(providers.map((tokens) => tokens.getToken()))
      expect(endpoint.requests).toHaveLength(2)
    })
  })

  describe('an aborted caller', () => {
    it('fails immediately with its own reason, and affects no other caller', async () => {
      const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
      const tokens = tokensOf(endpoint)
      const controller = new AbortController()
      const aborted = watch(tokens.getToken(abortedBy(controller)))
      const other = watch(tokens.getToken(abortedBy(new AbortController())))
      await pass(50)
      const reason = { its: 'own reason' }
      controller.abort(reason)
      await pass(0)
      expect(aborted).toEqual({ state: 'rejected', error: reason })
      expect(other.state).toBe('pending')
      await pass(50)
      expect(other.value?.value).toBe('token-1')
      expect(endpoint.cancelled).toBe(0)
    })

    it('cancels the request when the last caller leaves, and the next caller starts a new one', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? never : {}))
      const tokens = tokensOf(endpoint)
      const controllers = [new AbortController(), new AbortController()]
      const calls = controllers.map((controller) => watch(tokens.getToken(abortedBy(controller))))
      await pass(1)
      controllers[0]!.abort()
      await pass(1)
      expect(endpoint.cancelled).toBe(0)
      controllers[1]!.abort()
      await pass(1)
      expect(endpoint.cancelled).toBe(1)
      expect(calls.map(({ error }) => (error as Error).name)).toEqual(['AbortError', 'AbortError'])
      await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
    })

    it('causes no cooldown when the last caller leaves', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? never : {}))
      const tokens = tokensOf(endpoint)
      const controller = new AbortController()
      const call = watch(tokens.getToken(abortedBy(controller)))
      await pass(0)
      controller.abort()
      const next = watch(tokens.getToken())
      await pass(0)
      expect([call.state, next.state]).toEqual(['rejected', 'resolved'])
    })

    it('cancels the wait between two attempts as well', async () => {
      const endpoint = new ScriptedEndpoint(unavailable)
      const tokens = tokensOf(endpoint)
      const controller = new AbortController()
      const call = watch(tokens.getToken(abortedBy(controller)))
      await pass(0)
      controller.abort()
      await pass(0)
      expect(vi.getTimerCount()).toBe(0)
      await pass(60_000)
      expect(call.state).toBe('rejected')
      expect(endpoint.requests).toHaveLength(1)
    })

    it('leaves nothing behind: neither a listener of its signal nor a timer', async () => {
      const tokens = tokensOf(new ScriptedEndpoint({ latencyMs: 100 }))
      const { signal } = new AbortController()
      for (let call = 0; call < 20; call += 1) {
        const waiting = tokens.getToken({ signal, forceRefresh: true })
        await pass(100)
        await waiting
      }
      expect(getEventListeners(signal, 'abort')).toEqual([])
      expect(vi.getTimerCount()).toBe(0)
      const controller = new AbortController()
      const endless = { cacheKey: async () => 'key', requestToken: () => new Promise<never>(() => {}) }
      const aborted = watch(createTokenProvider(endless).getToken({ signal: controller.signal }))
      await pass(10)
      controller.abort('left')
      await pass(0)
      expect(aborted).toEqual({ state: 'rejected', error: 'left' })
      expect(vi.getTimerCount()).toBe(0)
    })

    it('gets no token even if one is cached', async () => {
      const tokens = tokensOf(new ScriptedEndpoint())
      await tokens.getToken()
      await expect(tokens.getToken({ signal: AbortSignal.abort('too late') })).rejects.toBe('too late')
    })

    it('gets no cached token if it aborts in the same turn', async () => {
      const tokens = tokensOf(new ScriptedEndpoint())
      await tokens.getToken()
      const controller = new AbortController()
      const call = tokens.getToken(abortedBy(controller))
      controller.abort('at once')
      await expect(call).rejects.toBe('at once')
    })

    it('that was aborted before it called makes no request', async () => {
      const requestToken = vi.fn(() => new Promise<never>(() => {}))
      const tokens = createTokenProvider({ cacheKey: async () => 'key', requestToken })
      await expect(tokens.getToken({ signal: AbortSignal.abort('too late') })).rejects.toBe('too late')
      await pass(1_000)
      expect(requestToken).not.toHaveBeenCalled()
    })

    it('that was aborted before it called refreshes no token that is due', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
      const tokens = tokensOf(endpoint)
      await tokens.getToken()
      await pass(90_000)
      await expect(tokens.getToken({ signal: AbortSignal.abort('too late') })).rejects.toBe('too late')
      await pass(1_000)
      expect(endpoint.requests).toHaveLength(1)
    })

    it('that was aborted before it called gets no token while a request is in flight, which continues', async () => {
      const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
      const tokens = tokensOf(endpoint)
      const other = watch(tokens.getToken())
      await pass(50)
      await expect(tokens.getToken({ signal: AbortSignal.abort('too late') })).rejects.toBe('too late')
      await pass(50)
      expect(other.value?.value).toBe('token-1')
      expect([endpoint.requests.length, endpoint.cancelled]).toEqual([1, 0])
    })

    it('does not cancel a refresh in the background', async () => {
      const endpoint = new ScriptedEndpoint((request) => ({
        expiresIn: 100,
        latencyMs: request === 1 ? 0 : 9_000,
      }))
      const tokens = tokensOf(endpoint)
      await tokens.getToken()
      await pass(90_000)
      await tokens.getToken()
      await pass(6_000)
      const controller = new AbortController()
      const expiring = watch(tokens.getToken(abortedBy(controller)))
      await pass(1)
      controller.abort()
      await pass(5_000)
      expect(expiring.state).toBe('rejected')
      expect(endpoint.cancelled).toBe(0)
      expect(tokens.peekToken()?.value).toBe('token-2')
    })

    it('aborted after its token has arrived affects no other caller', async () => {
      const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
      const tokens = tokensOf(endpoint)
      const controller = new AbortController()
      const call = watch(tokens.getToken(abortedBy(controller)))
      await pass(100)
      controller.abort()
      expect(call.state).toBe('resolved')
      expect((await tokens.getToken()).value).toBe('token-1')
    })

    it('leaves no listeners on its signal', async () => {
      const tokens = tokensOf(new ScriptedEndpoint({ latencyMs: 1 }))
      const { signal } = new AbortController()
      let listeners = 0
      vi.spyOn(signal, 'addEventListener').mockImplementation(() => void listeners++)
      vi.spyOn(signal, 'removeEventListener').mockImplementation(() => void listeners--)
      const call = watch(tokens.getToken({ signal }))
      await pass(1)
      expect(call.state).toBe('resolved')
      expect(listeners).toBe(0)
    })
  })

  describe('time limits', () => {
    it('are ten seconds per attempt and thirty per call, even if the source ignores the signal', async () => {
      const attempts: number[] = []
      const tokens = createTokenProvider({
        cacheKey: () => Promise.resolve('key'),
        requestToken: () => {
          attempts.push(Date.now())
          return new Promise(() => {})
        },
      })
      const began = Date.now()
      const call = watch(tokens.getToken())
      await pass(29_999)
      expect(call.state).toBe('pending')
      await pass(1)
      expect(call).toMatchObject({ state: 'rejected', error: { name: 'TokenError', kind: 'unavailable' } })
      expect(attempts).toHaveLength(3)
      expect(attempts[1]! - began).toBeGreaterThanOrEqual(10_000)
      expect(attempts[1]! - began).toBeLessThanOrEqual(11_000)
    })

    it('are in the error, which names the client', async () => {
      const tokens = tokensOf(new ScriptedEndpoint(never), { maxAttempts: 1 })
      const call = watch(tokens.getToken())
      await pass(10_000)
      expect(call.error).toMatchObject({
        message: 'The token endpoint https://auth.example.com/token did not respond to "client" within 10 s.',
      })
    })

    it('cause a cooldown if the endpoint does not respond', async () => {
      const endpoint = new ScriptedEndpoint(never)
      const tokens = tokensOf(endpoint)
      const first = watch(tokens.getToken())
      await pass(30_000)
      expect(first.state).toBe('rejected')
      const before = endpoint.requests.length
      const second = watch(tokens.getToken())
      await pass(0)
      expect(second).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
      expect(endpoint.requests).toHaveLength(before)
    })

    it('can be set', async () => {
      const endpoint = new ScriptedEndpoint(never)
      const tokens = tokensOf(endpoint, {
        timeoutMs: 1_000,
        attemptTimeoutMs: 200,
        maxAttempts: 2,
      })
      const call = watch(tokens.getToken())
      await pass(1_000)
      expect(call).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
      expect(endpoint.requests).toHaveLength(2)
      expect(endpoint.cancelled).toBe(2)
    })

    it('are stated by the error of a call that waited for two requests', async () => {
      const options = { timeoutMs: 1_500, attemptTimeoutMs: 60_000 }
      const tokens = tokensOf(new ScriptedEndpoint(never), options)
      const first = watch(tokens.getToken())
      await pass(1_000)
      const second = watch(tokens.getToken({ forceRefresh: true }))
      await pass(1_600)
      expect(first.state).toBe('rejected')
      expect(second).toMatchObject({
        state: 'rejected',
        error: { kind: 'unavailable', message: 'Timed out after 1.5 s while waiting for a token.' },
      })
    })
  })
})
