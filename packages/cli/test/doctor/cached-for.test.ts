import { createTokenProvider, type TokenResponse } from '@tokenwell/core'
import { createFakeClock } from '@tokenwell/testing'
import { expect, it, onTestFinished, vi } from 'vitest'
import { planFor } from '../../src/doctor/check-lifetime.ts'

it.each([10, 60, 3600, 86_400])('reports how long a provider caches a token of %i s', async (expiresIn) => {
  const evenly = vi.spyOn(Math, 'random').mockReturnValue(0.5)
  onTestFinished(() => evenly.mockRestore())
  const clock = createFakeClock()
  const requestToken = vi.fn(async (): Promise<TokenResponse> => {
    return {
      accessToken: `token-${requestToken.mock.calls.length}`,
      tokenType: 'Bearer',
      expiresIn,
      scope: [],
    }
  })
  const tokens = createTokenProvider({ requestToken, cacheKey: async () => 'key' }, { clock })
  onTestFinished(() => tokens.close())
  const { freshMs, usableMs } = planFor(expiresIn * 1000)

  await tokens.getToken()
  clock.advance(usableMs - 1)
  expect(tokens.peekToken()?.value).toBe('token-1')
  clock.advance(1)
  expect(tokens.peekToken()).toBeUndefined()

  await tokens.getToken()
  clock.advance(freshMs - 1)
  await tokens.getToken()
  expect(requestToken).toHaveBeenCalledTimes(2)
  clock.advance(1)
  await tokens.getToken()
  await vi.waitFor(() => expect(requestToken).toHaveBeenCalledTimes(3), { timeout: 20_000 })
})
