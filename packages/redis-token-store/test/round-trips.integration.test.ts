import type { TokenProvider, TokenResponse } from '@tokenwell/core'
import { createRedisTokenStore } from '@tokenwell/redis-token-store'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCaller } from './caller.ts'
import { report } from './fleet-scenarios.ts'
import { recordingClient } from './recording-client.ts'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { startTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'

const platformResponse: TokenResponse = {
  accessToken: 'b'.repeat(28),
  tokenType: 'Bearer',
  expiresIn: 3_599,
  issuedAt: new Date('2026-01-02T03:04:05.678Z'),
  scope: [],
  clientId: 'c'.repeat(32),
  applicationName: '2f1d4c1e-6a58-4d0e-9a5f-3b1f5d0f9d3c',
  organizationName: 'organization',
  developerEmail: 'developer@example.com',
  status: 'approved',
  apiProducts: ['speech-to-text'],
}

const refusal = {
  kind: 'credentials',
  message:
    'The token endpoint refused the client credentials; check client ID and secret, and that the application is approved (status 401, invalid_client)',
  status: 401,
  oauthError: 'invalid_client',
} as const

describe.skipIf(!redisInstalled)('what the store costs', () => {
  let redis: RedisServer
  let endpoint: TokenEndpoint
  beforeAll(async () => {
    redis = await startRedis()
    endpoint = await startTokenEndpoint({ lifetimeMs: 3_600_000 })
  })
  afterAll(async () => {
    await endpoint?.[Symbol.asyncDispose]()
    await redis?.[Symbol.asyncDispose]()
  })

  it('makes one round trip to take over a token and none for the next 9,999 calls, and few for a new token', async () => {
    const connection = await createClient({ url: redis.url }).connect()
    const scriptCalls = async () =>
      [...(await connection.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)]
        .map((match) => Number(match[1]))
        .reduce((sum, calls) => sum + calls, 0)
    const { client, trips } = recordingClient(connection)
    /** Round trips for `work`, and for putting away behind its back. */
    const tripsOf = async (work: (tokens: TokenProvider) => Promise<unknown>) => {
      const caller = await openCaller(redis.url, endpoint, { client })
      const before = trips.length
      await work(caller.tokens)
      await caller[Symbol.asyncDispose]()
      return trips.length - before
    }
    const firstEver = await tripsOf((tokens) => tokens.getToken())
    expect(trips.filter(({ command }) => command === 'eval')).toHaveLength(4)
    await connection.flushDb()
    const cold = await tripsOf((tokens) => tokens.getToken())
    const takenOver = await tripsOf((tokens) => tokens.getToken())
    const served = await scriptCalls()
    const warm = await tripsOf(async (tokens) => {
      for (let call = 0; call < 10_000; call++) await tokens.getToken()
    })
    expect(await scriptCalls()).toBe(served + 1)
    report('round trips', { firstEver, cold, takenOver, '10,000 calls': warm })
    expect(cold).toBeLessThanOrEqual(5)
    expect({ takenOver, warm }).toEqual({ takenOver: 1, warm: 1 })
    connection.destroy()
  })

  it('keeps a token in less than a kilobyte', async () => {
    const client = await createClient({ url: redis.url }).connect()
    const bytes: Record<string, number> = {}
    const longToken = { ...platformResponse, accessToken: 'j'.repeat(1_000) }
    for (const [size, response] of Object.entries({
      'opaque token': platformResponse,
      'JWT of 1,000': longToken,
    })) {
      for (const [form, encryptionKeys] of Object.entries({
        plain: undefined,
        encrypted: [new Uint8Array(32)],
      })) {
        await client.flushDb()
        const lease = await createRedisTokenStore({ client, encryptionKeys }).lease('a cache key', 5_000)
        await lease!.write(response, 3_599_000)
        await lease!.writeCooldown(refusal, 30_000)
        const keys = await client.keys('*')
        for (const key of keys) {
          const name = `${size}, ${form}, ${key.replace(/.*:/, '')}`
          bytes[name] = (await client.memoryUsage(key)) ?? 0
        }
      }
    }
    report('bytes', bytes)
    expect(bytes['opaque token, encrypted, token']).toBeLessThan(1_000)
    client.destroy()
  })
})
