import { describe, expect, it, vi } from 'vitest'
import { createMemoryTokenStore, createTokenProvider } from '@tokenwell/core'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts'
import { keyedSource, failing, forever, storeWith, throwing } from './sharing-providers.ts'

useFakeTime()

describe('a cache key', () => {
  it.each([
    ['fails', failing, 'ECONNRESET'],
    ['throws at once', throwing, 'TypeError'],
  ])('that %s fails no caller: the token is requested without the store', async (_name, cacheKey, cause) => {
    const endpoint = new ScriptedEndpoint()
    const read = vi.fn(() => Promise.resolve(undefined))
    const onEvent = vi.fn()
    const store = storeWith({ read })
    const tokens = createTokenProvider(keyedSource(endpoint, cacheKey), { store, onEvent })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-1' })
    tokens.reject(tokens.peekToken()!)
    await expect(tokens.getToken()).resolves.toMatchObject({ value: 'token-2' })
    expect(read).not.toHaveBeenCalled()
    expect(onEvent).toHaveBeenCalledWith({ type: 'store_unavailable', operation: 'cacheKey', cause })
  })

  it('that hangs is not reported as a failure of the store when its caller leaves', async () => {
    const endpoint = new ScriptedEndpoint()
    const onEvent = vi.fn()
    const store = createMemoryTokenStore()
    const tokens = createTokenProvider(keyedSource(endpoint, forever), { store, onEvent })
    const controller = new AbortController()
    const call = watch(tokens.getToken({ signal: controller.signal }))
    await pass(10)
    controller.abort('left')
    await pass(10)
    expect(call).toEqual({ state: 'rejected', error: 'left' })
    expect(onEvent.mock.calls.map(([{ type }]) => type as string)).toEqual(['call_settled'])
  })

  it('that hangs does not block callers, refreshes or close indefinitely', async () => {
    const endpoint = new ScriptedEndpoint({ expiresIn: 100 })
    let hang = false
    const cacheKey = () => (hang ? forever() : Promise.resolve('key'))
    const tokens = createTokenProvider(keyedSource(endpoint, cacheKey), { store: createMemoryTokenStore() })
    await tokens.getToken()
    await pass(85_000)
    hang = true
    await tokens.getToken()
    await pass(100_000)
    const call = watch(tokens.getToken())
    await pass(12_000)
    expect(call.state).toBe('resolved')
    tokens.reject(tokens.peekToken()!)
    watch(tokens.getToken())
    await pass(10)
    const closed = watch(tokens.close())
    await pass(10)
    expect(closed.state).toBe('resolved')
  })
})
