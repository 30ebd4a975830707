import { createTokenProvider, type TokenSource } from '@tokenwell/core'
import { expect, test } from 'vitest'
import { tokenStateOf, watchTokenLife } from '../src/token-life.ts'

function sourceOf(...lives: number[]): TokenSource {
  let asked = 0
  return {
    cacheKey: () => Promise.resolve('key'),
    requestToken: () =>
      Promise.resolve({
        accessToken: `token ${asked}`,
        tokenType: 'Bearer',
        scope: [],
        expiresIn: lives[asked++]!,
      }),
  }
}

test('requests, renewals and calls are counted, and no token shows', async () => {
  const tokens = createTokenProvider(sourceOf(300, 600))
  let changes = 0
  const watch = watchTokenLife(tokens, () => changes++)
  expect(watch.life()).toEqual({ tokenRequests: 0, renewals: 0, apiCalls: 0 })
  const token = await tokens.getToken()
  watch.countApiCall()
  expect(watch.life()).toMatchObject({ tokenRequests: 1, renewals: 0, apiCalls: 1 })
  expect(watch.life().remainingMs).toBeGreaterThan(299_000)
  tokens.reject(token)
  expect(watch.life().remainingMs).toBeUndefined()
  await tokens.getToken()
  expect(watch.life()).toMatchObject({ tokenRequests: 2, renewals: 1, apiCalls: 1 })
  expect(watch.life().lifetimeMs).toBeGreaterThan(599_000)
  expect(changes).toBe(6)
  expect(JSON.stringify(watch.life())).not.toContain(token.value)
  watch.stop()
  await tokens.close()
})

test('the states are those that a provider goes by', () => {
  const stateAt = (lifetimeMs: number | undefined, remainingMs: number | undefined) =>
    tokenStateOf({ lifetimeMs, remainingMs, tokenRequests: 1, renewals: 0, apiCalls: 0 })
  expect(stateAt(undefined, undefined)).toBe('none')
  expect(stateAt(300_000, 0)).toBe('none')
  expect(stateAt(300_000, 60_000)).toBe('fresh')
  expect(stateAt(300_000, 59_999)).toBe('ageing')
  expect(stateAt(300_000, 9_999)).toBe('expiring')
  expect(stateAt(3_600_000, 299_999)).toBe('ageing')
  expect(stateAt(20_000, 999)).toBe('expiring')
})
