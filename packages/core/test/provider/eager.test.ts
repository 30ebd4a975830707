import { describe, expect, it } from 'vitest'
import { createTokenProvider } from '@tokenwell/core'
import { pass, useFakeTime } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, unavailable } from '../support/scripted-endpoint.ts'

useFakeTime()

describe('eager', () => {
  it('requests a token before the first call, which joins the request', async () => {
    const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
    const tokens = createTokenProvider(sourceOf(endpoint), { eager: true })
    await pass(99)
    expect(endpoint.requests).toHaveLength(1)
    const call = tokens.getToken()
    await pass(1)
    expect((await call).value).toBe('token-1')
    expect(endpoint.requests).toHaveLength(1)
  })

  it('throws nothing if the request fails, and the first call after the cooldown tries again', async () => {
    const endpoint = new ScriptedEndpoint(unavailable)
    const tokens = createTokenProvider(sourceOf(endpoint), { eager: true })
    await pass(20_000)
    endpoint.script = {}
    await expect(tokens.getToken()).resolves.toBeDefined()
  })

  it('continues if a caller that joined it leaves', async () => {
    const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
    const tokens = createTokenProvider(sourceOf(endpoint), { eager: true })
    const controller = new AbortController()
    const call = tokens.getToken({ signal: controller.signal })
    controller.abort('left')
    await expect(call).rejects.toBe('left')
    await pass(100)
    expect(tokens.peekToken()?.value).toBe('token-1')
  })

  it('makes no further requests without calls', async () => {
    const endpoint = new ScriptedEndpoint({ expiresIn: 10 })
    createTokenProvider(sourceOf(endpoint), { eager: true })
    await pass(3_600_000)
    expect(endpoint.requests).toHaveLength(1)
  })
})
