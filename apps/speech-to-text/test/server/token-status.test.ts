import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { watchToken } from '../../src/server/token-status.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('counts what happened to the token, and joins what follows each other', async () => {
  const tokens = createTestTokenProvider({ tokens: ['one', 'two', 'three'] })
  const changes = vi.fn<() => void>()
  const watcher = watchToken(tokens, changes)
  expect(watcher.status()).toEqual({
    lifetimeMs: undefined,
    remainingMs: undefined,
    tokenRequests: 0,
    apiCalls: 0,
    steps: [],
  })
  const first = await tokens.getToken()
  watcher.countApiCall()
  watcher.countApiCall()
  tokens.reject(first)
  await tokens.getToken()
  watcher.addTrial('expired')
  const { steps, ...status } = watcher.status()
  expect(steps.map(({ what, count }) => `${what} ${count}`)).toEqual([
    'requested 1',
    'used 2',
    'rejected 1',
    'replaced 1',
    'expired 1',
  ])
  expect(status).toMatchObject({ tokenRequests: 2, apiCalls: 2, remainingMs: undefined })
  expect(changes).toHaveBeenCalled()
})

test('says why there is no token, and counts down its lifetime', async () => {
  const tokens = createTestTokenProvider({
    error: new TokenError({ kind: 'unavailable', status: 503, message: 'Down.' }),
  })
  const watcher = watchToken(tokens, () => {})
  for (let count = 0; count < 2; count++) await tokens.getToken().catch(() => {})
  expect(watcher.status().steps).toMatchObject([{ what: 'failed', why: 'not available (503)', count: 2 }])
  tokens.error = undefined
  await tokens.getToken()
  const { lifetimeMs = 0 } = watcher.status()
  vi.advanceTimersByTime(60_000)
  expect(watcher.status().remainingMs).toBe(lifetimeMs - 60_000)
  watcher.stop()
  await tokens.getToken({ forceRefresh: true })
  expect(watcher.status().tokenRequests).toBe(3)
})
