import { describe, expect, it } from 'vitest'
import { type TokenEvent } from '@tokenwell/core'
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { rejection, sendThrough } from '../attach/send-through.ts'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants, unavailable, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  async function started(script: Script = {}) {
    const endpoint = new ScriptedEndpoint(script)
    const events: TokenEvent[] = []
    const tokens = tokensOf(endpoint)
    tokens.subscribe((event) => events.push(event))
    return { endpoint, events, tokens, token: await tokens.getToken() }
  }

  describe('a rejected token', () => {
    it('is not returned again', async () => {
      const { endpoint, tokens, token } = await started()
      tokens.reject(token)
      expect(tokens.peekToken()).toBeUndefined()
      expect((await tokens.getToken()).value).toBe('token-2')
      expect(endpoint.requests).toHaveLength(2)
    })

    it('may be reported by its text', async () => {
      const { endpoint, events, tokens, token } = await started()
      tokens.reject('another')
      expect((await tokens.getToken()).value).toBe(token.value)
      tokens.reject(token.value)
      expect((await tokens.getToken()).value).toBe('token-2')
      expect(endpoint.requests).toHaveLength(2)
      const rejections = events.filter(({ type }) => type === 'token_rejected')
      expect(rejections).toMatchObject([{ refreshing: true }])
      expect(rejections).not.toMatchObject([{ remainingMs: 0 }])
    })

    it('is replaced by the next call only', async () => {
      const { endpoint, tokens, token } = await started()
      tokens.reject(token)
      await pass(60_000)
      expect(endpoint.requests).toHaveLength(1)
    })

    it('causes one request if it is rejected 200 times at once', async () => {
      const { endpoint, tokens, token } = await started((request) => ({ latencyMs: request === 1 ? 0 : 100 }))
      const calls = Array.from({ length: 200 }, () => {
        tokens.reject(token)
        return watch(tokens.getToken())
      })
      await pass(100)
      expect(new Set(calls.map(({ value }) => value?.value))).toEqual(new Set(['token-2']))
      expect(endpoint.requests).toHaveLength(2)
    })

    it('causes no request if it is rejected again after its replacement', async () => {
      const { endpoint, events, tokens, token } = await started()
      tokens.reject(token)
      await tokens.getToken()
      const before = events.length
      for (let late = 0; late < 1_000; late++) tokens.reject(token)
      expect((await tokens.getToken()).value).toBe('token-2')
      expect(endpoint.requests).toHaveLength(2)
      expect(events).toHaveLength(before)
    })

    it('is replaced by a pending refresh, without using the budget', async () => {
      const { endpoint, tokens } = await started((request) => ({
        expiresIn: 100,
        latencyMs: request % 2 ? 0 : 5_000,
      }))
      const token = tokens.peekToken()!
      await pass(85_000)
      await tokens.getToken()
      tokens.reject(token)
      const call = watch(tokens.getToken())
      await pass(5_000)
      expect(call.value?.value).toBe('token-2')
      expect(endpoint.requests).toHaveLength(2)
    })

    it('is ignored if it belongs to another provider or is invented', async () => {
      const { endpoint, tokens, token } = await started()
      tokens.reject({
        ...token,
        value: 'another',
        tokenType: 'Bearer',
        expiresAt: new Date(),
        response: token.response,
      })
      expect(tokens.peekToken()).toBe(token)
      expect(endpoint.requests).toHaveLength(1)
    })

    it('is ignored before a token is cached', async () => {
      const { token } = await started()
      const endpoint = new ScriptedEndpoint()
      const tokens = tokensOf(endpoint)
      tokens.reject(token)
      await tokens.getToken()
      expect(endpoint.requests).toHaveLength(1)
    })

    it('is returned again until a replacement is available or it expires', async () => {
      const { endpoint, events, tokens, token } = await started((request) =>
        request === 1 ? { expiresIn: 100 } : unavailable,
      )
      tokens.reject(token)
      expect(tokens.peekToken()).toBeUndefined()
      for (let tick = 0; tick < 15; tick++) {
        const call = watch(tokens.getToken())
        await pass(6_000)
        expect(call.value?.value).toBe('token-1')
      }
      // Its callers did not fail.
      expect(events.filter((event) => event.type === 'call_settled' && event.kind !== undefined)).toEqual([])
      await pass(10_000)
      const expired = watch(tokens.getToken())
      await pass(30_000)
      expect(expired).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
      endpoint.script = {}
      await pass(10_000)
      expect((await tokens.getToken()).value).not.toBe('token-1')
    })
  })

  describe('the budget for refreshes after rejections', () => {
    it('is not used by a rejection during a refresh', async () => {
      const { endpoint, tokens, token } = await started((request) => ({
        latencyMs: request === 2 ? 1_000 : 0,
      }))
      const refresh = watch(tokens.getToken({ forceRefresh: true }))
      tokens.reject(token)
      await pass(1_000)
      expect(refresh.value?.value).toBe('token-2')
      for (let call = 0; call < 100; call++) tokens.reject(await tokens.getToken())
      expect(endpoint.requests).toHaveLength(2 + 20)
    })

    it('allows twenty at once; after that the token stays and no request is made', async () => {
      const { endpoint, events, tokens } = await started()
      for (let call = 0; call < 100; call++) tokens.reject(await tokens.getToken())
      expect(endpoint.requests).toHaveLength(21)
      expect(tokens.peekToken()?.value).toBe('token-21')
      const refreshing = events
        .filter(({ type }) => type === 'token_rejected')
        .map((event) => 'refreshing' in event && event.refreshing)
      expect(refreshing).toEqual([...Array<boolean>(20).fill(true), ...Array<boolean>(80).fill(false)])
    })

    it('is used once for a token that several callers report', async () => {
      const { events, tokens, token } = await started()
      for (let caller = 0; caller < 100; caller++) tokens.reject(token)
      const rejections = events.filter(({ type }) => type === 'token_rejected')
      expect(rejections).toHaveLength(100)
      expect(rejections).not.toContainEqual(expect.objectContaining({ refreshing: false }))
    })

    it('counts rejected requests that cannot be sent again, which start refreshes', async () => {
      const { endpoint, tokens } = await started()
      const attacher = createTokenAttacher(tokens, { allowedOrigins: ['https://api.example.com'] })
      for (let call = 0; call < 100; call++) {
        const request = { method: 'POST', url: `https://api.example.com/${call}` }
        await sendThrough(attacher, { ...request, repeatable: false }, [rejection])
        await pass(0)
      }
      expect(endpoint.requests).toHaveLength(21)
    })

    it('regains one every five seconds, up to twenty', async () => {
      const { endpoint, tokens } = await started()
      const drain = async (): Promise<number> => {
        const before = endpoint.requests.length
        for (let call = 0; call < 100; call++) tokens.reject(await tokens.getToken())
        await tokens.getToken()
        return endpoint.requests.length - before
      }
      expect(await drain()).toBe(20)
      await pass(4_999)
      expect(await drain()).toBe(0)
      await pass(1)
      expect(await drain()).toBe(1)
      await pass(10_000)
      expect(await drain()).toBe(2)
      await pass(3_000_000)
      expect(await drain()).toBe(20)
    })

    it('limits an API that rejects every token to 22 token requests for 1,000 calls in ten seconds', async () => {
      const { endpoint, tokens } = await started()
      for (let call = 0; call < 1_000; call++) {
        tokens.reject(await tokens.getToken())
        await pass(10)
      }
      expect(endpoint.requests.length).toBeLessThanOrEqual(22)
      expect(endpoint.requests.length).toBeGreaterThan(20)
    })

    it('does not limit refreshes of expiring tokens', async () => {
      const { endpoint, tokens } = await started({ expiresIn: 100 })
      for (let call = 0; call < 30; call++) tokens.reject(await tokens.getToken())
      const before = endpoint.requests.length
      await pass(100_000)
      await tokens.getToken()
      expect(endpoint.requests).toHaveLength(before + 1)
    })

    it('emits an event with the remaining lifetime of the rejected token', async () => {
      const { events, tokens, token } = await started({ expiresIn: 100 })
      await pass(40_000)
      tokens.reject(token)
      expect(events.at(-1)).toEqual({
        type: 'token_rejected',
        remainingMs: 60_000,
        refreshing: true,
        label: 'client',
      })
    })

    it('is not used by failed requests', async () => {
      const { endpoint, tokens, token } = await started((request) => (request === 1 ? {} : unavailable))
      tokens.reject(token)
      const call = watch(tokens.getToken())
      await pass(30_000)
      expect(call.value?.value).toBe('token-1')
      for (let late = 0; late < 100; late++) tokens.reject(token)
      endpoint.script = {}
      await pass(10_000)
      await expect(tokens.getToken()).resolves.toBeDefined()
    })
  })
})
