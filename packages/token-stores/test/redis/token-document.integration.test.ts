import { parseTokenResponse } from '@tokenwell/core/protocol'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import * as fc from 'fast-check'
import { createClient } from 'redis'
import { describe, expect, it } from 'vitest'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.integer().map(String),
  fc.constant(null),
)
const epoch = fc.integer({ min: 1e9, max: 4e12 })
const responses = fc.record(
  {
    access_token: fc.stringMatching(/^[!-~]{1,200}$/),
    token_type: fc.constantFrom('Bearer', 'BearerToken', 'bearer'),
    expires_in: fc.oneof(fc.nat(), fc.nat().map(String), text, fc.double()),
    issued_at: fc.oneof(epoch, epoch.map(String), text),
    scope: fc.oneof(text, fc.array(fc.string())),
    client_id: text,
    application_name: text,
    organization_name: text,
    developer_email: text,
    status: text,
    refresh_token: text,
    refresh_token_expires_in: fc.oneof(text, fc.nat()),
    refresh_count: fc.oneof(text, fc.nat()),
    level: text,
    api_product_list: fc.array(fc.string()).map((names) => `[${names.join(', ')}]`),
    api_product_list_json: fc.array(fc.string()),
  },
  { requiredKeys: ['access_token'] },
)

describe.skipIf(!redisInstalled)('a token response in Redis', () => {
  it('is read as it was written, for any response of the token endpoint', async () => {
    await using redis = await startRedis()
    const client = await createClient({ url: redis.url }).connect()
    const stores = [undefined, [new Uint8Array(32)]].map((encryptionKeys) =>
      createRedisTokenStore({ client, encryptionKeys }),
    )
    await fc.assert(
      fc.asyncProperty(responses, fc.string(), async (body, key) => {
        const { raw: _raw, ...response } = parseTokenResponse(200, {}, JSON.stringify(body))
        for (const store of stores) {
          const lease = (await store.lease(key, 5_000))!
          const id = await lease.write(response, 60_000)
          await lease.release()
          expect(await store.read(key)).toStrictEqual({ id, response, remainingMs: expect.any(Number) })
        }
      }),
      { numRuns: 300 },
    )
    client.destroy()
  })
})
