import {
  createRedisTokenStore,
  type RedisTokenStoreClient,
  type RedisTokenStoreOptions,
} from '@tokenwell/redis-token-store'
import { describeTokenStore } from '@tokenwell/testing'
import { afterAll, beforeAll, describe } from 'vitest'

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
