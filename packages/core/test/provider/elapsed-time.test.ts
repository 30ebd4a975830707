import { describe, expect, it } from 'vitest'
import { createTokenProvider, type Clock } from '@tokenwell/core'
import { pass, setWallClock, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

useFakeTime()

async function started(expiresIn = 100) {
  const endpoint = new ScriptedEndpoint({ expiresIn })
  const tokens = createTokenProvider(sourceOf(endpoint))
  await tokens.getToken()
  return { endpoint, tokens }
}

describe('elapsed time', () => {
  it('advances when the wall clock is set back', async () => {
    const { endpoint, tokens } = await started()
    await pass(10_000)
    setWallClock(-3_600_000)
    await pass(84_999)
    expect(tokens.peekToken()?.value).toBe('token-1')
    await pass(1)
    expect(tokens.peekToken()).toBeUndefined()
    expect((await tokens.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('advances while the machine sleeps and the monotonic clock stops', async () => {
    const { endpoint, tokens } = await started()
    setWallClock(100_000)
    expect(tokens.peekToken()).toBeUndefined()
    expect((await tokens.getToken()).value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('causes one refresh if the wall clock jumps forward, and none if it jumps back', async () => {
    const { endpoint, tokens } = await started()
    setWallClock(365 * 86_400_000)
    await tokens.getToken()
    setWallClock(-365 * 86_400_000)
    await pass(70_000)
    expect((await tokens.getToken()).value).toBe('token-2')
    await pass(25_001)
    expect(tokens.peekToken()).toBeUndefined()
    expect(endpoint.requests).toHaveLength(2)
  })

  it('causes one more request if the wall clock jumps forward during the first one, as it does at boot', async () => {
    const endpoint = new ScriptedEndpoint({ latencyMs: 100 })
    const tokens = createTokenProvider(sourceOf(endpoint))
    const call = watch(tokens.getToken())
    await pass(50)
    setWallClock(56 * 365 * 86_400_000)
    await pass(2_000)
    expect(call.value?.value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('ends a cooldown even if the wall clock is set back', async () => {
    const endpoint = new ScriptedEndpoint((request) =>
      request === 1 ? { status: 401, body: { error: 'invalid_client' } } : {},
    )
    const tokens = createTokenProvider(sourceOf(endpoint))
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    setWallClock(-86_400_000)
    await pass(999)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    await pass(1)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
  })

  it('also advances when the wall clock, set back, returns to a time at which the token was fresh', async () => {
    const { tokens } = await started()
    await pass(76_500)
    expect(tokens.peekToken()?.value).toBe('token-1')
    await pass(6_000)
    setWallClock(-100_000)
    // Due for refresh.
    expect(tokens.peekToken()?.value).toBe('token-1')
    await pass(94_500)
    expect(tokens.peekToken()).toBeUndefined()
  })

  it('is read from the given clock', async () => {
    let wall = 1_000_000
    let monotonic = 5
    const clock: Clock = { now: () => wall, monotonic: () => monotonic }
    const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
    const tokens = createTokenProvider(sourceOf(endpoint), { clock })
    const token = await tokens.getToken()
    expect(token.expiresAt.getTime()).toBe(1_100_000)
    wall -= 50_000
    monotonic += 94_000
    expect(tokens.peekToken()).toBe(token)
    monotonic += 1_000
    expect(tokens.peekToken()).toBeUndefined()
    monotonic -= 95_000
    wall += 145_000
    expect(tokens.peekToken()).toBeUndefined()
  })
})
