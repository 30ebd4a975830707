import { describe, expect, it } from 'vitest'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { sickTenant, startAtOnce } from './many-providers.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

const table = createSoakTable()

describe.skipIf(!redisInstalled)('tenants that share a Redis', () => {
  it.each([
    [0, 20],
    [70, 0],
    [150, 100],
  ])('10,000 start at once, %d ms from Redis, with at most %d token requests', async (roundTripMs, most) => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
    const row = await table.measure(`10,000 providers start, ${roundTripMs} ms from Redis`, () =>
      startAtOnce(10_000, roundTripMs, redis, endpoint),
    )
    expect(row.failures).toBe(0)
    expect(row.tokenRequests).toBeLessThanOrEqual(most)
  })

  it('request no token while the key of another one fails for 30 s', async () => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
    const row = await table.measure('one sick key beside 200 tenants', () =>
      sickTenant({ healthy: 200, forMs: 30_000 }, redis.url, endpoint),
    )
    expect(row).toMatchObject({ failures: 0, ofHealthy: 0 })
  })
})
