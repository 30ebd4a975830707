import { describe, expect, it } from 'vitest'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, grants, unavailable, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

describe.each(grants)('with %s', (_grant, tokensOf) => {
  async function started(script: Script) {
    fixRandom(0.5)
    const endpoint = new ScriptedEndpoint(script)
    const tokens = tokensOf(endpoint)
    await tokens.getToken()
    return { endpoint, tokens }
  }

  describe('minimumValidityMs', () => {
    it('refreshes a token with a shorter remaining lifetime before it is returned', async () => {
      const { endpoint, tokens } = await started({ expiresIn: 1_000 })
      await pass(500_000)
      const minimumValidityMs = 500_000
      expect((await tokens.getToken({ minimumValidityMs })).value).toBe('token-1')
      await pass(1)
      const token = await tokens.getToken({ minimumValidityMs })
      expect(token.value).toBe('token-2')
      expect(token.expiresAt.getTime() - Date.now()).toBeGreaterThanOrEqual(minimumValidityMs)
      expect(endpoint.requests).toHaveLength(2)
    })

    it('does not affect callers that require less', async () => {
      const { tokens } = await started((request) => ({
        expiresIn: 1_000,
        latencyMs: request === 1 ? 0 : 100,
      }))
      await pass(500_000)
      const long = watch(tokens.getToken({ minimumValidityMs: 600_000 }))
      const short = watch(tokens.getToken({ minimumValidityMs: 400_000 }))
      await pass(0)
      expect([long.state, short.value?.value]).toEqual(['pending', 'token-1'])
      await pass(100)
      expect(long.value?.value).toBe('token-2')
    })

    it('returns the freshest token without a request per call if it exceeds the lifetime', async () => {
      const { endpoint, tokens } = await started((request) => ({
        expiresIn: 100,
        latencyMs: request === 1 ? 0 : 500,
      }))
      const minimumValidityMs = 3_600_000
      for (let call = 0; call < 50; call++) {
        const got = watch(tokens.getToken({ minimumValidityMs }))
        await pass(1_000)
        expect(got.state).toBe('resolved')
      }
      expect(endpoint.requests).toHaveLength(1)
      await pass(45_000)
      const refreshed = watch(tokens.getToken({ minimumValidityMs }))
      await pass(500)
      expect(refreshed.value?.value).toBe('token-2')
    })

    it('longer than the lifetime gets a new token once the cached one is due for refresh', async () => {
      const { tokens } = await started({ expiresIn: 1_000 })
      await pass(800_000)
      expect((await tokens.getToken({ minimumValidityMs: 3_600_000 })).value).toBe('token-2')
    })

    it('does not make every call wait if it is slightly shorter than the lifetime', async () => {
      const { endpoint, tokens } = await started({ expiresIn: 100, latencyMs: 0 })
      endpoint.script = { expiresIn: 100, latencyMs: 2_000 }
      for (let call = 0; call < 10; call++) {
        const got = watch(tokens.getToken({ minimumValidityMs: 99_000 }))
        await pass(2_000)
        expect(got.state).toBe('resolved')
      }
      // The first call with too short a lifetime made a request. Its token had 98 s left, and a newer one has no more.
      expect(endpoint.requests).toHaveLength(2)
    })

    it('accepts a token that took most of its lifetime to arrive, without another request', async () => {
      const endpoint = new ScriptedEndpoint({ expiresIn: 12, latencyMs: 9_800 })
      const tokens = tokensOf(endpoint)
      const call = watch(tokens.getToken({ minimumValidityMs: 3_600_000 }))
      await pass(9_800)
      expect(call.value?.value).toBe('token-1')
      expect(endpoint.requests).toHaveLength(1)
    })

    it('causes an error if it cannot be met, and other callers still get the token', async () => {
      const { tokens } = await started((request) => (request === 1 ? { expiresIn: 1_000 } : unavailable))
      await pass(500_000)
      const demanding = watch(tokens.getToken({ minimumValidityMs: 600_000 }))
      await pass(30_000)
      expect(demanding).toMatchObject({ state: 'rejected', error: { kind: 'unavailable' } })
      expect((await tokens.getToken()).value).toBe('token-1')
    })

    it('does not cause a request per call if it is not a positive number', async () => {
      const { endpoint, tokens } = await started({ expiresIn: 100 })
      for (const minimumValidityMs of [Number.NaN, -1, -Infinity, Infinity, undefined]) {
        expect((await tokens.getToken({ minimumValidityMs })).value).toBe('token-1')
      }
      expect(endpoint.requests).toHaveLength(1)
    })

    it('does not return a token within its expiry margin', async () => {
      const { tokens } = await started({ expiresIn: 100 })
      await pass(95_001)
      expect((await tokens.getToken({ minimumValidityMs: 1 })).value).toBe('token-2')
    })
  })
})
