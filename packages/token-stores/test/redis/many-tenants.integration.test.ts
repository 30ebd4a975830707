import { describe, expect, it } from 'vitest'
import { measure } from '@tokenwell/internal-testing/measure'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { report } from './fleet.ts'
import { sickTenant, startAtOnce } from './many-providers.ts'
import { startTokenEndpoint } from './token-endpoint.ts'

/** On a busy machine Redis may respond too late. */
function keptUp<T extends { readonly events: Readonly<Record<string, number>> }>(result: T) {
  return { ...result, keptUp: !result.events['store_unavailable slow'] }
}

describe.skipIf(!redisInstalled)('tenants whose tokens are in Redis', () => {
  it.each([0, 70])('request none when 500 of them start at once, %d ms from Redis', async (roundTripMs) => {
    const title = `500 tenants, ${roundTripMs} ms from Redis`
    const result = await measure(title, async () => {
      await using redis = await startRedis()
      await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
      return keptUp(await startAtOnce(500, roundTripMs, redis, endpoint))
    })
    report(title, result)
    expect(result.failures).toBe(0)
    if (result.keptUp) expect(result.tokenRequests).toBe(0)
  })

  it('request none while the key of another one fails', async () => {
    const result = await measure('50 tenants beside one whose key fails', async () => {
      await using redis = await startRedis()
      await using endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
      return keptUp(await sickTenant({ healthy: 50, forMs: 1_000 }, redis.url, endpoint))
    })
    report('one sick key', result)
    expect(result.failures).toBe(0)
    expect(result.events['store_unavailable TRYAGAIN']).toBeGreaterThan(0)
    if (result.keptUp) expect(result.ofHealthy).toBe(0)
  })
})
