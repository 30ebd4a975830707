import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  clientCredentials,
  type TokenEvent,
  type TokenProviderOptions,
  type TokenStore,
} from '@tokenwell/core'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { report, requestsFor } from './fleet.ts'
import { median, startSlowEndpoint, type TokenEndpoint } from './token-endpoint.ts'

describe.skipIf(!redisInstalled)('providers that share a Redis, while the token endpoint', () => {
  let redis: RedisServer
  let endpoint: TokenEndpoint
  let client: ReturnType<typeof connection>
  let store: TokenStore
  const connection = () => createClient({ url: redis.url })
  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await startSlowEndpoint()
    client = await connection().connect()
    store = createRedisTokenStore({ client })
    // The first calls load and compile code.
    await startFleet(20, 'warm-up').callAll()
  })
  afterAll(async () => {
    client?.destroy()
    await endpoint?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })

  function startFleet(size: number, scope: string, options: TokenProviderOptions = {}, shared = true) {
    const slow: TokenEvent[] = []
    const providers = Array.from({ length: size }, () => {
      const { tokenEndpoint } = endpoint
      const tokens = clientCredentials({
        tokenEndpoint,
        clientId: 'fleet',
        clientSecret: 'secret',
        scope,
        store: shared ? store : undefined,
        ...options,
      })
      tokens.subscribe((event) => event.type === 'store_unavailable' && slow.push(event))
      return tokens
    })
    /** Calls all of them once; returns how long each call took. */
    async function callAll(): Promise<{ waits: number[]; failures: unknown[]; slow: number }> {
      const began = performance.now()
      const failures: unknown[] = []
      const waits = await Promise.all(
        providers.map(async (tokens) => {
          await tokens.getToken().catch((error: unknown) => failures.push(error))
          return performance.now() - began
        }),
      )
      return { waits, failures, slow: slow.length }
    }
    return { callAll }
  }

  it.concurrent.each([
    [6_000, 10_000, 100],
    [4_400, 8_000, 50],
  ])(
    'responds after %d ms with a timeout of %d ms: none of %d calls fails',
    async (tookMs, timeoutMs, size) => {
      const scope = `takes ${tookMs} ms`
      const { waits, failures, slow } = await startFleet(size, scope, { timeoutMs }).callAll()
      const requests = requestsFor(endpoint, scope).length
      report(scope, { calls: size, requests, slow, longestMs: Math.round(Math.max(...waits)) })
      expect(failures).toEqual([])
      expect(requests).toBeLessThanOrEqual(3)
    },
  )

  it.concurrent('responds with 503: callers learn of it as soon as without a store, and it gets few requests', async () => {
    const scope = 'responds 503'
    const [alone, shared] = await Promise.all([
      startFleet(50, `${scope}, alone`, {}, false).callAll(),
      startFleet(50, scope).callAll(),
    ])
    const requests = requestsFor(endpoint, scope).length
    const medians = { aloneMs: median(alone.waits), sharedMs: median(shared.waits) }
    report(scope, { requests, ...medians, slow: shared.slow })
    expect([alone.failures.length, shared.failures.length]).toEqual([50, 50])
    expect(medians.sharedMs).toBeLessThan(2 * medians.aloneMs)
    // On a busy machine, it takes longer, and there are as many more.
    expect(requests).toBeLessThanOrEqual(6 * Math.max(1, Math.max(...shared.waits) / 6_000))
  })

  it.concurrent('responds with 429 and Retry-After: 3 requests at most arrive before the time is over, and no call fails', async () => {
    const scope = 'responds 429 for 3 s'
    const { waits, failures, slow } = await startFleet(200, scope).callAll()
    const requests = requestsFor(endpoint, scope)
    const early = requests.filter(({ receivedAt }) => receivedAt < requests[0]!.receivedAt + 2_900).length
    report(scope, { requests: requests.length, early, slow, longestMs: Math.round(Math.max(...waits)) })
    expect(failures).toEqual([])
    expect(early).toBeLessThanOrEqual(3)
    expect(requests.length).toBeLessThanOrEqual(6)
  })
})
