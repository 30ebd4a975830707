import { describe, expect, it } from 'vitest'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { report } from './fleet.ts'
import { sickTenant, startAtOnce } from './many-providers.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

describe.skipIf(!redisInstalled)('tenants whose tokens are in Redis', () => {
  it.each([0, 70])('request none when 500 of them start at once, %d ms from Redis', async (roundTripMs) => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
    const result = await startAtOnce(500, roundTripMs, redis, endpoint)
    report(`500 tenants, ${roundTripMs} ms from Redis`, result)
    expect(result.failures).toBe(0)
    // On a busy machine Redis may respond too late.
    if (!result.events['store_unavailable slow']) expect(result.tokenRequests).toBe(0)
  })

  it('request none while the key of another one fails', async () => {
    await using redis = await startRedis()
    await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
    const result = await sickTenant({ healthy: 50, forMs: 1_000 }, redis.url, endpoint)
    report('one sick key', result)
    expect(result.failures).toBe(0)
    expect(result.events['store_unavailable TRYAGAIN']).toBeGreaterThan(0)
    if (!result.events['store_unavailable slow']) expect(result.ofHealthy).toBe(0)
  })
})
