import { createTokenProvider, type TokenEvent, type TokenSource } from '@tokenwell/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tokenStateOf, watchToken } from '../../src/tokens/token-status.ts'

function sourceOf(...lifetimes: number[]): TokenSource {
  let requests = 0
  return {
    cacheKey: () => Promise.resolve('key'),
    requestToken: () =>
      Promise.resolve({
        accessToken: `token ${requests}`,
        tokenType: 'Bearer',
        scope: [],
        expiresIn: lifetimes[requests++]!,
      }),
  }
}

test('counts requests, refreshes and calls without exposing a token', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const tokens = createTokenProvider(sourceOf(300, 600))
  let changes = 0
  const watcher = watchToken(tokens, () => changes++)
  expect(watcher.status()).toEqual({ tokenRequests: 0, refreshes: 0, apiCalls: 0, steps: [] })
  const token = await tokens.getToken()
  watcher.countApiCall()
  expect(watcher.status()).toMatchObject({ tokenRequests: 1, refreshes: 0, apiCalls: 1 })
  expect(watcher.status().remainingMs).toBe(300_000)
  tokens.reject(token)
  expect(watcher.status().remainingMs).toBeUndefined()
  await tokens.getToken()
  expect(watcher.status()).toMatchObject({ tokenRequests: 2, refreshes: 1, apiCalls: 1 })
  expect(watcher.status().lifetimeMs).toBe(600_000)
  expect(changes).toBe(6)
  for (let call = 0; call < 3; call++) watcher.countApiCall()
  expect(watcher.status().steps.map(({ what, count }) => `${what} ${count}`)).toEqual([
    'requested 1',
    'used 1',
    'rejected 1',
    'replaced 1',
    'used 3',
  ])
  expect(JSON.stringify(watcher.status())).not.toContain(token.value)
  watcher.stop()
  await tokens.close()
})

test('says why a token request failed, once for failures that follow each other', async () => {
  const kinds = ['unavailable', 'unavailable', 'credentials'] as const
  const listeners: ((event: TokenEvent) => void)[] = []
  const watcher = watchToken({ subscribe: (listener) => (listeners.push(listener), () => {}) })
  for (const kind of kinds) {
    const event = { type: 'token_failed', kind, status: kind === 'unavailable' ? 503 : undefined }
    for (const listener of listeners) listener(event as TokenEvent)
  }
  expect(watcher.status().steps).toMatchObject([
    { what: 'failed', why: 'not available (503)', count: 2 },
    { what: 'failed', why: 'wrong client ID or secret', count: 1 },
  ])
})

test('returns the states of a provider with default settings', () => {
  const stateAt = (lifetimeMs: number | undefined, remainingMs: number | undefined) =>
    tokenStateOf({ lifetimeMs, remainingMs, tokenRequests: 1, refreshes: 0, apiCalls: 0, steps: [] })
  expect(stateAt(undefined, undefined)).toBe('none')
  expect(stateAt(300_000, 0)).toBe('none')
  expect(stateAt(300_000, 60_000)).toBe('fresh')
  expect(stateAt(300_000, 59_999)).toBe('due-for-refresh')
  expect(stateAt(300_000, 9_999)).toBe('expiring')
  expect(stateAt(3_600_000, 299_999)).toBe('due-for-refresh')
  expect(stateAt(20_000, 999)).toBe('expiring')
})
