import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { pass, useFakeTime } from '../support/fake-time.ts'
import {
  never,
  ScriptedEndpoint,
  grants,
  unavailable,
  wrongSecret,
  type ScriptedResponse,
} from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  const connectionRefused = {
    error: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
  }

  describe('a token endpoint that fails for ten seconds while the token is due for refresh', () => {
    it.each<[string, ScriptedResponse]>([
      ['rejects connections', connectionRefused],
      ['responds with 503', unavailable],
      ['never responds', never],
      ['responds with HTML', { body: '<html>' }],
      ['responds with 404', { status: 404, body: '' }],
      ['responds with 429', { status: 429, headers: { 'retry-after': '5' }, body: '' }],
      ['rejects the credentials', wrongSecret],
    ])('affects no caller if it %s', async (_name, failure) => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 900 })
      const tokens = tokensOf(endpoint)
      await tokens.getToken()
      // A token due for refresh has 180 s left, much longer than the outage.
      await pass(745_000)
      endpoint.script = failure
      for (let tick = 0; tick < 1_000; tick++) {
        expect(tokens.peekToken()?.value).toBe('token-1')
        expect((await tokens.getToken()).value).toBe('token-1')
        await pass(10)
      }
      endpoint.script = { expiresIn: 900 }
      for (let tick = 0; tick < 120; tick++) {
        expect(tokens.peekToken()).toBeDefined()
        await tokens.getToken()
        await pass(1_000)
      }
      expect(tokens.peekToken()?.value).not.toBe('token-1')
    })
  })

  describe('unhandled rejections', () => {
    const unhandled = vi.fn()
    let others: NodeJS.UnhandledRejectionListener[] = []
    beforeEach(() => {
      unhandled.mockClear()
      others = process.listeners('unhandledRejection')
      process.removeAllListeners('unhandledRejection')
      process.on('unhandledRejection', unhandled)
    })
    afterEach(() => {
      process.removeAllListeners('unhandledRejection')
      for (const listener of others) process.on('unhandledRejection', listener)
    })

    /** Node reports them once the promises of a turn are done. */
    const turns = async (): Promise<void> => {
      vi.useRealTimers()
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    }

    it('are caught by the listener of this test', async () => {
      void Promise.reject(new Error('nobody waits'))
      await turns()
      expect(unhandled).toHaveBeenCalledOnce()
    })

    it('do not occur in 10,000 failed refreshes', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 31_000_000 })
      const tokens = tokensOf(endpoint, {
        maxAttempts: 1,
        refreshAheadMs: 2_000_000_000,
      })
      await tokens.getToken()
      vi.setSystemTime(Date.now() + 29_200_000_000)
      const failures = [unavailable, connectionRefused, { body: '' }, { status: 404, body: '' }]
      endpoint.script = (request) => failures[request % failures.length]!
      for (let refresh = 0; refresh < 10_000; refresh++) {
        expect((await tokens.getToken()).value).toBe('token-1')
        await pass(61_000)
      }
      expect(endpoint.requests.length).toBeGreaterThan(10_000)
      await turns()
      expect(unhandled).not.toHaveBeenCalled()
    })

    it('do not occur in aborted, forced and closed calls that fail, or during a cooldown', async () => {
      for (const failure of [unavailable, connectionRefused, never, wrongSecret]) {
        const endpoint = new ScriptedEndpoint({ latencyMs: 5, ...failure })
        const tokens = tokensOf(endpoint)
        const controller = new AbortController()
        const calls = [
          tokens.getToken({ signal: controller.signal }),
          tokens.getToken({ forceRefresh: true }),
          tokens.getToken({ minimumValidityMs: 1 }),
          tokens.getToken(),
        ]
        for (const call of calls) call.catch(() => {})
        controller.abort()
        await pass(40_000)
        void tokens.getToken().catch(() => {})
        await pass(1)
        await tokens.close()
      }
      await turns()
      expect(unhandled).not.toHaveBeenCalled()
    })
  })
})
