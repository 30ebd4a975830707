import { expect, it } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { requestsWithRandomTokens, requestsWithValidTokens } from './load.ts'

const table = createSoakTable()
const describe = (figures: object): string =>
  Object.entries(figures)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')

it('introspects 100 tokens once per cacheMs under 30 s of load, and rejects a revoked one after it', async () => {
  await table.measure('requests with 100 valid tokens', async () => {
    const figures = await requestsWithValidTokens(30, 5_000)
    expect(figures).toHaveProperty('requestsPerSecond')
    return { failures: 0, figures: describe(figures) }
  })
})

it('100,000 random tokens do not grow memory beyond the bound, nor stop valid ones', async () => {
  await table.measure('requests with random tokens', async () => {
    const figures = await requestsWithRandomTokens(100_000, 10_000)
    // 50 bytes for each: a result that is kept takes several hundred.
    expect(figures.heapGrowth).toBeLessThan(5_000_000)
    return { calls: figures.randomTokens, failures: 0, figures: describe(figures) }
  })
})
