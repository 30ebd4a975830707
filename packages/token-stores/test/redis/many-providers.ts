import { createClient } from 'redis'
import { createTokenProvider, type TokenEvent, type TokenProvider, type TokenStore } from '@tokenwell/core'
import { createGrantSource } from '@tokenwell/core/adapter'
import { createRedisTokenStore, type NodeRedisClient } from '@tokenwell/token-stores/redis'
import { startDistantRedis } from './distant-redis.ts'
import type { TokenEndpoint } from './token-endpoint.ts'

/** Providers of `count` tenants that share a store, and what they did. */
export interface Tenants {
  readonly providers: readonly TokenProvider[]
  /** The number of events of each type, such as `store_unavailable slow`. */
  readonly events: Record<string, number>
}

const sourceOf = (tenant: number, { tokenEndpoint }: TokenEndpoint) =>
  createGrantSource({ tokenEndpoint, clientId: 'many', clientSecret: 'secret', scope: `tenant-${tenant}` })

function createTenants(count: number, endpoint: TokenEndpoint, store: TokenStore): Tenants {
  const events: Record<string, number> = {}
  const onEvent = (event: TokenEvent): void => {
    const name = event.type === 'store_unavailable' ? `${event.type} ${event.cause}` : event.type
    events[name] = (events[name] ?? 0) + 1
  }
  const providers = Array.from({ length: count }, (_, tenant) =>
    createTokenProvider(sourceOf(tenant, endpoint), { store, onEvent }),
  )
  return { providers, events }
}

/** Writes the tokens of `count` tenants. */
async function fill(store: TokenStore, count: number, endpoint: TokenEndpoint): Promise<void> {
  for (let first = 0; first < count; first += 100) {
    await Promise.all(
      Array.from({ length: Math.min(100, count - first) }, async (_, index) => {
        const scope = `tenant-${first + index}`
        const lease = (await store.lease(await sourceOf(first + index, endpoint).cacheKey(), 30_000))!
        const token = {
          accessToken: `stored.${Date.now() + 3_600_000}`,
          tokenType: 'Bearer',
          scope: [scope],
        } as const
        await lease.write({ ...token, expiresIn: 3_600 }, 3_600_000)
        await lease.release()
      }),
    )
  }
}

/** All tokens are in Redis, at a distance of `roundTripMs`: how many are requested when all providers start at once? */
export async function startAtOnce(
  count: number,
  roundTripMs: number,
  redis: { readonly port: number; readonly url: string },
  endpoint: TokenEndpoint,
) {
  const near = await createClient({ url: redis.url }).connect()
  await fill(createRedisTokenStore({ client: near }), count, endpoint)
  near.destroy()
  await using distant = await startDistantRedis(redis.port, roundTripMs)
  const client = await createClient({ url: distant.url })
    .on('error', () => {})
    .connect()
  try {
    const { events, providers } = createTenants(count, endpoint, createRedisTokenStore({ client }))
    const { failures, errors, worstMs } = await callAll({ providers, events })
    return { calls: count, failures, errors, worstMs, tokenRequests: endpoint.requests.length, events }
  } finally {
    client.destroy()
  }
}

async function callAll({ providers }: Tenants) {
  const began = performance.now()
  const settled = await Promise.allSettled(providers.map((tokens) => tokens.getToken()))
  const worstMs = performance.now() - began
  await Promise.all(providers.map((tokens) => tokens.close()))
  const errors = settled.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []))
  return { failures: errors.length, errors: new Set(errors), worstMs }
}

/** A client whose commands on one key fail, as those on several keys do while their slot moves. */
function answeringTryAgain(client: NodeRedisClient, sickKey: string): NodeRedisClient {
  const send = (form: 'eval' | 'evalSha'): NodeRedisClient['eval'] => {
    return async (script, call) => {
      if (call.keys[0] === sickKey) throw new Error('TRYAGAIN Multiple keys request during rehashing of slot')
      return client[form](script, call)
    }
  }
  return { isOpen: true, eval: send('eval'), evalSha: send('evalSha') }
}

/** Commands on the key of one tenant fail for `forMs`, while `healthy` others read their tokens all the time. */
export async function sickTenant(
  { healthy, forMs }: { readonly healthy: number; readonly forMs: number },
  redisUrl: string,
  endpoint: TokenEndpoint,
) {
  const client = await createClient({ url: redisUrl }).connect()
  await fill(createRedisTokenStore({ client }), healthy + 1, endpoint)
  const sickScope = `tenant-${healthy}`
  const keys = await client.keys('tokenwell:*')
  const entries = await Promise.all(keys.map((key) => client.hGet(key, 'token')))
  const sickKey = keys[entries.findIndex((entry) => entry?.includes(`"${sickScope}"`))]!
  const sickStore = createRedisTokenStore({ client: answeringTryAgain(client, sickKey) })
  const events: Record<string, number> = {}
  const until = performance.now() + forMs
  let calls = 0
  let failures = 0
  let worstMs = 0
  while (performance.now() < until) {
    // New providers each time: every one reads its token from the store.
    const round = createTenants(healthy + 1, endpoint, sickStore)
    await Promise.all(
      round.providers.map(async (tokens) => {
        const began = performance.now()
        await tokens.getToken().catch(() => failures++)
        worstMs = Math.max(worstMs, performance.now() - began)
        calls++
      }),
    )
    for (const [name, count] of Object.entries(round.events)) events[name] = (events[name] ?? 0) + count
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  client.destroy()
  const { requests } = endpoint
  const ofHealthy = requests.filter(({ scope }) => scope !== sickScope).length
  return { calls, failures, worstMs, tokenRequests: requests.length, ofHealthy, events }
}
