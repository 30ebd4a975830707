import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { createTokenPool, createTokenProvider, type TokenEvent } from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, grants, wrongSecret, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOfGrant) => {
  function start(script: Script, onEvent?: (event: TokenEvent) => void) {
    const endpoint = new ScriptedEndpoint(script)
    return { endpoint, tokens: tokensOfGrant(endpoint, { onEvent, maxAttempts: 1 }) }
  }

  describe('callers that arrive in the same moment', () => {
    it('each have their own asynchronous context', async () => {
      const contexts: unknown[] = []
      const context = new AsyncLocalStorage<string>()
      const { tokens } = start({ latencyMs: 100 })
      const stop = tokens.subscribe(
        ({ type }) => type === 'call_settled' && contexts.push(context.getStore()),
      )
      for (const name of ['a', 'b']) context.run(name, () => watch(tokens.getToken()))
      await pass(100)
      expect(contexts).toEqual(['a', 'b'])
      stop()
    })

    it.each([
      [{}, undefined],
      [wrongSecret, 'credentials'],
    ])('each get an event with their own duration: %j', async (response, kind) => {
      const settled: TokenEvent[] = []
      const { tokens } = start({ ...response, latencyMs: 100 }, (event) => {
        if (event.type === 'call_settled') settled.push(event)
      })
      for (const waitMs of [4, 5, 91]) {
        watch(tokens.getToken())
        await pass(waitMs)
      }
      const durations = [100, 96, 91]
      expect(settled).toMatchObject(
        durations.map((durationMs) => ({ durationMs, waitedFor: 'token_request', requestId: 1 })),
      )
      expect(settled.map((event) => 'kind' in event && event.kind)).toEqual([kind, kind, kind])
    })

    it('are joined by a call that `waitUntil` makes while the request starts', async () => {
      const joined: unknown[] = []
      const tokens = tokensOfGrant(new ScriptedEndpoint({ latencyMs: 100 }), {
        waitUntil: () => joined.push(watch(tokens.getToken())),
      })
      const calls = [watch(tokens.getToken()), watch(tokens.getToken())]
      await pass(100)
      const resolved = expect.objectContaining({ state: 'resolved' })
      expect([...calls, ...joined]).toEqual([resolved, resolved, resolved])
    })

    it('share nothing with callers after reset()', async () => {
      const { tokens } = start({ latencyMs: 100 })
      const before = watch(tokens.getToken())
      tokens.reset()
      const after = [watch(tokens.getToken()), watch(tokens.getToken())]
      await pass(100)
      expect([before, ...after].map(({ value }) => value?.value)).toEqual(['token-1', 'token-2', 'token-2'])
    })

    it.each([
      ['reject()', ['token-1', 'token-2']],
      ['close()', ['token-1', undefined]],
    ])('share no token that is due for refresh with callers after %s', async (event, values) => {
      const { tokens } = start({ latencyMs: 100 })
      const first = tokens.getToken()
      await pass(100)
      const token = await first
      await pass(3_560_000)
      const before = watch(tokens.getToken())
      if (event === 'reject()') tokens.reject(token)
      else void tokens.close()
      const after = watch(tokens.getToken())
      await pass(100)
      expect([before.value?.value, after.value?.value]).toEqual(values)
    })

    it('are completed before an evicted provider is closed', async () => {
      const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
      const pool = createTokenPool(() => tokensOfGrant(endpoint), { maxEntries: 1 })
      const evicted = pool.for('a')
      const calls = [watch(evicted.getToken()), watch(evicted.getToken()), watch(evicted.getToken())]
      watch(pool.for('b').getToken())
      await pass(100)
      expect(calls.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved'])
    })
  })
})

it('no call waits or gets an expired token under 200 calls a second with tokens of three seconds', async () => {
  const endpoint = new ScriptedEndpoint({ expiresIn: 3, latencyMs: 100 })
  const tokens = createTokenProvider(sourceOf(endpoint))
  const first = tokens.getToken()
  await pass(100)
  await first
  for (let call = 0; call < 12_000; call++) {
    const token = tokens.peekToken()
    expect(token).toBeDefined()
    expect(await tokens.getToken()).toBe(token)
    const issuedAt = endpoint.requests[Number(token!.value.slice(6)) - 1]!.atMs
    expect(Date.now() - issuedAt).toBeLessThan(2_850)
    await pass(5)
  }
  // A refresh 2.34 to 2.46 s after each request.
  expect(endpoint.requests.length).toBeGreaterThanOrEqual(25)
  expect(endpoint.requests.length).toBeLessThanOrEqual(27)
  expect(endpoint.mostInFlight).toBe(1)
})
