import { describe, expect, it } from 'vitest'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants, wrongSecret, type ScriptedResponse } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  const throttled = (headers: Record<string, string>): ScriptedResponse => ({
    status: 429,
    headers,
    body: '',
  })

  function start(first: ScriptedResponse, then: ScriptedResponse = {}) {
    fixRandom(0)
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? first : then))
    return { endpoint, tokens: tokensOf(endpoint) }
  }

  describe('a rate limit without Retry-After', () => {
    const inAnHour = (): number => Date.now() + 3_600_000

    it.each<[string, () => string]>([
      ['x-ratelimit-reset', () => String(inAnHour() / 1000)],
      ['x-rate-limit-reset', () => String(inAnHour())],
      ['x-ratelimit-reset', () => new Date(inAnHour()).toUTCString()],
      ['ratelimit-reset', () => '3600'],
      ['ratelimit', () => '"burst";r=5;t=7200, "hour";r=0;t=3600'],
      ['ratelimit', () => 'limit=100, remaining=0, reset=3600'],
    ])('ends as %s says', async (name, value) => {
      const { endpoint, tokens } = start(throttled({ [name]: value(), date: new Date().toUTCString() }))
      await expect(tokens.getToken()).rejects.toMatchObject({
        kind: 'throttled',
        retryAfterMs: 3_600_000,
        attempts: 1,
      })
      await pass(29_999)
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'throttled' })
      expect(endpoint.requests).toHaveLength(1)
    })

    it('ends as Retry-After says, if there are both', async () => {
      const { tokens } = start(throttled({ 'retry-after': '40', 'x-ratelimit-reset': '50' }))
      await expect(tokens.getToken()).rejects.toMatchObject({ retryAfterMs: 40_000 })
    })

    it.each(['soon', '', '-1', '9'.repeat(20)])('that ends %j makes no caller wait', async (value) => {
      const { tokens } = start(throttled({ 'x-ratelimit-reset': value }))
      const call = watch(tokens.getToken())
      await pass(30_000)
      expect(call.state).toBe('resolved')
    })

    it('is not read from a response that is about something else', async () => {
      const { endpoint, tokens } = start({ status: 503, headers: { 'ratelimit-reset': '50' }, body: '' })
      const call = watch(tokens.getToken())
      await pass(2_000)
      expect(call.state).toBe('resolved')
      expect(endpoint.requests).toHaveLength(2)
    })
  })

  describe('Retry-After', () => {
    it('in seconds is waited for if it ends within the timeout of the caller', async () => {
      const { endpoint, tokens } = start(throttled({ 'retry-after': '7' }))
      const began = Date.now()
      const call = watch(tokens.getToken())
      await pass(6_999)
      expect(call.state).toBe('pending')
      await pass(1)
      expect(call.value?.value).toBe('token-2')
      expect(endpoint.requests[1]!.atMs - began).toBe(7_000)
    })

    it('as an HTTP date is relative to the Date header of the response', async () => {
      const { endpoint, tokens } = start(
        throttled({ date: 'Sun, 06 Nov 1994 08:49:37 GMT', 'retry-after': 'Sun, 06 Nov 1994 08:49:47 GMT' }),
      )
      const call = watch(tokens.getToken())
      await pass(10_000)
      expect(call.state).toBe('resolved')
      expect(endpoint.requests[1]!.atMs - endpoint.requests[0]!.atMs).toBe(10_000)
    })

    it('as an HTTP date is relative to the local clock without a Date header', async () => {
      const until = new Date(Date.now() + 5_000).toUTCString()
      const { endpoint, tokens } = start(throttled({ 'retry-after': until }))
      const call = watch(tokens.getToken())
      await pass(5_000)
      expect(call.state).toBe('resolved')
      expect(endpoint.requests[1]!.atMs - endpoint.requests[0]!.atMs).toBe(5_000)
    })

    it('longer than the timeout of the caller fails the call immediately', async () => {
      const { endpoint, tokens } = start(throttled({ 'retry-after': '31' }))
      await expect(tokens.getToken()).rejects.toMatchObject({
        kind: 'throttled',
        retryAfterMs: 31_000,
        attempts: 1,
      })
      expect(endpoint.requests).toHaveLength(1)
    })

    it('causes a cooldown until then, with the remaining time in the error', async () => {
      const { endpoint, tokens } = start(throttled({ 'retry-after': '45' }))
      await tokens.getToken().catch(() => {})
      await pass(10_000)
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'throttled', retryAfterMs: 35_000 })
      expect(endpoint.requests).toHaveLength(1)
    })

    it('is waited for by later callers together, if it ends within their timeout', async () => {
      const { endpoint, tokens } = start(throttled({ 'retry-after': '45' }))
      await tokens.getToken().catch(() => {})
      await pass(20_000)
      const calls = Array.from({ length: 100 }, () => watch(tokens.getToken()))
      await pass(24_999)
      expect(calls[0]!.state).toBe('pending')
      await pass(1)
      expect(new Set(calls.map(({ value }) => value?.value))).toEqual(new Set(['token-2']))
      expect(endpoint.requests[1]!.atMs - endpoint.requests[0]!.atMs).toBe(45_000)
    })

    it('that ends with the timeout of a later caller fails the call immediately', async () => {
      const { tokens } = start(throttled({ 'retry-after': '45' }))
      await tokens.getToken().catch(() => {})
      await pass(15_000)
      const call = watch(tokens.getToken())
      await pass(0)
      expect(call).toMatchObject({ state: 'rejected', error: { kind: 'throttled', retryAfterMs: 30_000 } })
    })

    it('causes a cooldown of 60 s at most', async () => {
      const { tokens } = start(throttled({ 'retry-after': '86400' }))
      await expect(tokens.getToken()).rejects.toMatchObject({ retryAfterMs: 86_400_000 })
      await pass(60_000)
      await expect(tokens.getToken()).resolves.toBeDefined()
    })

    it('lets a caller abort while it waits', async () => {
      const { endpoint, tokens } = start(throttled({ 'retry-after': '20' }))
      const controller = new AbortController()
      const call = watch(tokens.getToken({ signal: controller.signal }))
      await pass(1_000)
      controller.abort('no time')
      await pass(60_000)
      expect(call.error).toBe('no time')
      expect(endpoint.requests).toHaveLength(1)
    })

    it.each(['soon', '-5', '1.5', '', 'NaN', '2026', '1e3', '99999999999999999999', 'Thu, 99 Foo 2026'])(
      'of %j makes no caller wait indefinitely',
      async (value) => {
        const { tokens } = start(throttled({ 'retry-after': value }))
        const call = watch(tokens.getToken())
        await pass(30_000)
        expect(call.state).not.toBe('pending')
      },
    )

    it('in the past does not skip the cooldown', async () => {
      const { endpoint, tokens } = start(throttled({ 'retry-after': '0' }), throttled({ 'retry-after': '0' }))
      for (let call = 0; call < 100; call++) {
        const got = watch(tokens.getToken())
        await pass(10)
        expect(got.state).not.toBe('resolved')
      }
      expect(endpoint.requests.length).toBeLessThan(10)
    })

    it('of an unavailable endpoint is waited for as well', async () => {
      const { endpoint, tokens } = start({ status: 503, headers: { 'retry-after': '4' }, body: '' })
      const call = watch(tokens.getToken())
      await pass(4_000)
      expect(call.value?.value).toBe('token-2')
      expect(endpoint.requests).toHaveLength(2)
    })

    it('of an unavailable endpoint causes a cooldown of a minute at most', async () => {
      const { tokens } = start({ status: 503, headers: { 'retry-after': '3600' }, body: '' })
      await expect(tokens.getToken()).rejects.toMatchObject({ retryAfterMs: 3_600_000, attempts: 1 })
      await pass(59_999)
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
      await pass(1)
      await expect(tokens.getToken()).resolves.toBeDefined()
    })

    it('is ignored for permanent failures', async () => {
      const { tokens } = start({ ...wrongSecret, headers: { 'retry-after': '4' } })
      const error: unknown = await tokens.getToken().catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ kind: 'credentials' })
      expect(error).not.toHaveProperty('retryAfterMs', 4_000)
    })
  })
})
