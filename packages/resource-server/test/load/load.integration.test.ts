import { expect, it } from 'vitest'
import { requestsWithRandomTokens, requestsWithValidTokens } from './load.ts'

it('introspects 100 tokens once per cacheMs, and rejects a revoked one after it', async () => {
  expect(await requestsWithValidTokens(0.5, 200)).toHaveProperty('requestsPerSecond')
})

it('accepts valid tokens among random ones', async () => {
  expect(await requestsWithRandomTokens(200, 50)).toHaveProperty('heapGrowth')
})
