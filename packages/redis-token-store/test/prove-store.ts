import {
  createRedisTokenStore,
  type RedisTokenStoreClient,
  type RedisTokenStoreOptions,
} from '@tokenwell/redis-token-store'
import { describeTokenStore } from '@tokenwell/test-suite'
import { afterAll, beforeAll, describe, expect } from 'vitest'

interface TestClient extends RedisTokenStoreClient {
  connect(): Promise<unknown>
  destroy(): unknown
}

/** The contract suite over one client: each of its tests has a key of its own. */
export function proveStore(
  name: string,
  createClient: () => TestClient,
  options?: Partial<RedisTokenStoreOptions>,
): void {
  describe(name, () => {
    let client: TestClient
    beforeAll(async () => {
      client = createClient()
      await client.connect()
    })
    afterAll(async () => {
      await client.destroy()
    })
    describeTokenStore('the Redis store', () => createRedisTokenStore({ client, ...options }))
  })
}

/** One token's way through a store, over a client that is closed afterwards. */
export async function useStore(client: TestClient): Promise<void> {
  await client.connect()
  const store = createRedisTokenStore({ client })
  const key = crypto.randomUUID()
  const lease = (await store.lease(key, 5_000))!
  expect(await store.lease(key, 5_000)).toBeUndefined()
  const id = await lease.write({ accessToken: 'token', tokenType: 'Bearer', scope: [] }, 60_000)
  await lease.release()
  expect(await store.read(key)).toMatchObject({ id, response: { accessToken: 'token' } })
  await store.remove(key, id!)
  expect(await store.read(key)).toBeUndefined()
  await client.destroy()
}
