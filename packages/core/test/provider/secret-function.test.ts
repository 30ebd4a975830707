import { describe, expect, it, vi } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants, unavailable, wrongSecret } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  /** An endpoint that knows one secret. */
  function guarded(right: string) {
    const endpoint = new ScriptedEndpoint()
    endpoint.script = () => (endpoint.requests.at(-1)!.form.get('client_secret') === right ? {} : wrongSecret)
    return endpoint
  }

  describe('a secret function', () => {
    it('is called before each token request, and only then', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
      const clientSecret = vi.fn(() => Promise.resolve('secret'))
      const tokens = tokensOf(endpoint, { clientSecret })
      expect(clientSecret).not.toHaveBeenCalled()
      for (let second = 0; second < 300; second++) {
        await tokens.getToken()
        await pass(1_000)
      }
      expect(clientSecret).toHaveBeenCalledTimes(endpoint.requests.length)
      expect(endpoint.requests[0]!.form.get('client_secret')).toBe('secret')
    })

    it('recovers from a rotation at the next call, with one request', async () => {
      const endpoint = guarded('new')
      let secret = 'old'
      const tokens = tokensOf(endpoint, { clientSecret: () => secret })
      for (let call = 0; call < 50; call++) {
        await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
      }
      expect(endpoint.requests).toHaveLength(1)
      secret = 'new'
      await pass(1_000)
      const calls = await Promise.all(Array.from({ length: 50 }, () => tokens.getToken()))
      expect(new Set(calls).size).toBe(1)
      expect(endpoint.requests).toHaveLength(2)
    })

    it('is not called during the cooldown of an endpoint that is unavailable', async () => {
      const endpoint = new ScriptedEndpoint(unavailable)
      const clientSecret = vi.fn(() => 'secret')
      const tokens = tokensOf(endpoint, { clientSecret, maxAttempts: 1 })
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
      const before = clientSecret.mock.calls.length
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'unavailable' })
      expect(clientSecret).toHaveBeenCalledTimes(before)
    })

    it('is called once a second during a cooldown, regardless of the number of callers', async () => {
      const endpoint = guarded('right')
      const clientSecret = vi.fn(() => 'wrong')
      const tokens = tokensOf(endpoint, { clientSecret })
      await tokens.getToken().catch(() => {})
      await pass(1_000)
      await tokens.getToken().catch(() => {})
      const before = clientSecret.mock.calls.length
      for (let second = 0; second < 20; second++) {
        const calls = Array.from({ length: 1_000 }, () => tokens.getToken())
        await Promise.all(calls.map((call) => expect(call).rejects.toMatchObject({ kind: 'credentials' })))
        await pass(1_000)
      }
      expect(endpoint.requests).toHaveLength(2)
      expect(clientSecret.mock.calls.length - before).toBe(20)
    })

    it('ends no newer cooldown if it responds late', async () => {
      const endpoint = new ScriptedEndpoint(wrongSecret)
      let clientSecret: () => string | Promise<string> = () => 'first'
      const tokens = tokensOf(endpoint, { clientSecret: () => clientSecret() })
      await tokens.getToken().catch(() => {})
      clientSecret = () => new Promise((resolve) => setTimeout(resolve, 500, 'second'))
      const waiting = watch(tokens.getToken())
      await pass(10)
      clientSecret = () => 'third'
      await tokens.getToken({ forceRefresh: true }).catch(() => {})
      await pass(1_000)
      expect(waiting.error).toMatchObject({ kind: 'credentials' })
      expect(endpoint.requests).toHaveLength(2)
    })

    describe.each([
      ['the same', 'first'],
      ['another', 'second'],
    ])('that responds late during a cooldown, with %s secret,', (_which, late) => {
      /** A call that waits for the secret, which responds within 700 ms. */
      async function startWaiting() {
        const endpoint = new ScriptedEndpoint((request) => (request === 1 ? wrongSecret : {}))
        let clientSecret: () => string | Promise<string> = () => 'first'
        const tokens = tokensOf(endpoint, { clientSecret: () => clientSecret() })
        await tokens.getToken().catch(() => {})
        clientSecret = () => new Promise((resolve) => setTimeout(resolve, 700, late))
        const waiting = watch(tokens.getToken())
        await pass(10)
        clientSecret = () => 'third'
        return { endpoint, tokens, waiting }
      }

      it('does not keep a call from the token of a forced one', async () => {
        const { endpoint, tokens, waiting } = await startWaiting()
        await tokens.getToken({ forceRefresh: true })
        await pass(690)
        expect(waiting).toEqual({ state: 'resolved', value: tokens.peekToken() })
        expect(endpoint.requests).toHaveLength(2)
      })

      it('does not keep a call from the request of a forced one', async () => {
        const { endpoint, tokens, waiting } = await startWaiting()
        endpoint.script = { latencyMs: 5_000 }
        const forced = watch(tokens.getToken({ forceRefresh: true }))
        await pass(5_000)
        expect(forced.state).toBe('resolved')
        expect(waiting).toEqual(forced)
        expect(endpoint.requests).toHaveLength(2)
      })

      it('does not keep a call in a cooldown that reset() has dropped', async () => {
        const { endpoint, tokens, waiting } = await startWaiting()
        tokens.reset()
        await pass(690)
        expect(waiting.value?.value).toBe('token-2')
        expect(endpoint.requests).toHaveLength(2)
      })
    })

    it('delays each call by at most a second if it hangs during a cooldown', async () => {
      let clientSecret: () => string | Promise<string> = () => 'wrong'
      const endpoint = new ScriptedEndpoint(wrongSecret)
      const tokens = tokensOf(endpoint, { clientSecret: () => clientSecret() })
      await tokens.getToken().catch(() => {})
      await pass(1_000)
      await tokens.getToken().catch(() => {})
      clientSecret = () => new Promise(() => {})
      const waiting = watch(tokens.getToken())
      await pass(999)
      expect(waiting.state).toBe('pending')
      await pass(1)
      expect(waiting.state).toBe('rejected')
    })

    it('does not prevent the next request if it hangs until the end of the cooldown', async () => {
      const endpoint = new ScriptedEndpoint((request) => (request === 1 ? wrongSecret : {}))
      let calls = 0
      const clientSecret = () => (++calls === 2 ? new Promise<string>(() => {}) : 'secret')
      const tokens = tokensOf(endpoint, { clientSecret })
      await tokens.getToken().catch(() => {})
      await pass(400)
      const waiting = watch(tokens.getToken())
      await pass(600)
      expect(waiting.value?.value).toBe('token-2')
    })

    it('causes one more request if it returns another wrong secret', async () => {
      const endpoint = guarded('right')
      let secret = 'wrong'
      const tokens = tokensOf(endpoint, { clientSecret: () => secret })
      await tokens.getToken().catch(() => {})
      secret = 'wrong as well'
      for (let call = 0; call < 50; call++) {
        await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
      }
      expect(endpoint.requests).toHaveLength(2)
    })

    it('is retried like an unavailable endpoint if it fails, and its error message is hidden', async () => {
      const endpoint = new ScriptedEndpoint()
      const clientSecret = vi.fn(() => Promise.reject(new Error('vault says hunter2')))
      const tokens = tokensOf(endpoint, { clientSecret })
      const call = watch(tokens.getToken())
      await pass(30_000)
      expect(call.error).toMatchObject({
        kind: 'unavailable',
        message: 'The clientSecret function failed (Error).',
        attempts: 3,
      })
      expect(endpoint.requests).toHaveLength(0)
      expect(clientSecret).toHaveBeenCalledTimes(3)
    })

    it('does not end a cooldown if it fails', async () => {
      const endpoint = new ScriptedEndpoint(wrongSecret)
      let calls = 0
      const clientSecret = () => {
        if (++calls > 1) throw new Error('vault is sealed')
        return 'wrong'
      }
      const tokens = tokensOf(endpoint, { clientSecret })
      await tokens.getToken().catch(() => {})
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
      expect(endpoint.requests).toHaveLength(1)
    })

    it.each([[undefined], [''], [42], ['line\nbreak']])(
      'causes an error and no request if it returns %j',
      async (secret) => {
        const endpoint = new ScriptedEndpoint()
        const tokens = tokensOf(endpoint, { clientSecret: () => secret as string })
        const error: unknown = await tokens.getToken().catch((thrown: unknown) => thrown)
        expect(error).toMatchObject({ kind: 'configuration' })
        expect((error as Error).message).toContain('clientSecret')
        expect(endpoint.requests).toHaveLength(0)
      },
    )

    it('recovers at the next call after it returned nothing', async () => {
      const endpoint = new ScriptedEndpoint()
      let secret = ''
      const tokens = tokensOf(endpoint, { clientSecret: () => secret })
      await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'configuration' })
      secret = 'secret'
      await pass(5_000)
      await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-1' })
    })

    it('does not delay an abort or a timeout if it hangs during a cooldown', async () => {
      let calls = 0
      const clientSecret = () => (++calls === 1 ? 'wrong' : new Promise<string>(() => {}))
      const tokens = tokensOf(new ScriptedEndpoint(wrongSecret), { clientSecret })
      await tokens.getToken().catch(() => {})
      const controller = new AbortController()
      const aborted = watch(tokens.getToken({ signal: controller.signal }))
      const waiting = watch(tokens.getToken())
      await pass(10)
      controller.abort('enough')
      await pass(0)
      expect(aborted).toEqual({ state: 'rejected', error: 'enough' })
      await pass(30_100)
      expect(waiting).toMatchObject({ state: 'rejected', error: { name: 'TokenError' } })
    })

    it('is abandoned like an unresponsive endpoint if it hangs', async () => {
      const endpoint = new ScriptedEndpoint(unavailable)
      const tokens = tokensOf(endpoint, { clientSecret: () => new Promise<string>(() => {}) })
      const call = watch(tokens.getToken())
      await pass(30_000)
      expect(call).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
    })
  })
})
