import { expect, it } from 'vitest'
import { requestsWithRandomTokens, requestsWithValidTokens } from './load-scenarios.ts'

const report = (figures: object): void => void process.stdout.write(`  ${JSON.stringify(figures)}\n`)

it('introspects 100 tokens once per cacheMs under 30 s of load, and rejects a revoked one after it', async () => {
  const figures = await requestsWithValidTokens(30, 5_000)
  report(figures)
  expect(figures).toHaveProperty('requestsPerSecond')
})

it('100,000 random tokens do not grow memory beyond the bound, nor stop valid ones', async () => {
  const figures = await requestsWithRandomTokens(100_000, 10_000)
  report(figures)
  expect(figures.heapGrowth).toBeLessThan(1_000_000)
})
