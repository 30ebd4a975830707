import {
  createRedisTokenStore,
  type IoRedisClient,
  type NodeRedisClient,
  type RedisTokenStoreClient,
  type RedisTokenStoreOptions,
} from '@tokenwell/token-stores/redis'
import { describeTokenStore } from '@tokenwell/internal-testing/vitest'
import { afterAll, beforeAll, describe, expect } from 'vitest'

/** A connected client, and how to close it. */
interface OpenClient<Client extends RedisTokenStoreClient = RedisTokenStoreClient> {
  readonly client: Client
  close: () => unknown
}

export async function openNodeRedis<
  Client extends NodeRedisClient & { connect(): Promise<unknown>; destroy(): unknown },
>(client: Client): Promise<OpenClient<Client>> {
  await client.connect()
  return { client, close: () => client.destroy() }
}

/** @param client created with `lazyConnect` */
export async function openIoRedis<
  Client extends IoRedisClient & {
    connect(): Promise<unknown>
    disconnect(): unknown
    on(event: 'error', listener: () => void): unknown
  },
>(client: Client): Promise<OpenClient<Client>> {
  // Without a listener the client writes errors to the console.
  client.on('error', () => {})
  await client.connect()
  return { client, close: () => client.disconnect() }
}

/** Runs the contract suite with one client. */
export function describeClient(
  name: string,
  open: () => Promise<OpenClient>,
  options?: Partial<RedisTokenStoreOptions>,
): void {
  describe(name, () => {
    let opened: OpenClient
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(async () => {
      await opened?.close()
    })
    describeTokenStore('the Redis store', () => createRedisTokenStore({ client: opened.client, ...options }))
  })
}

/** Writes, reads and removes a token with a client, then closes the client. */
export async function expectUsable({ client, close }: OpenClient): Promise<void> {
  const store = createRedisTokenStore({ client })
  const key = crypto.randomUUID()
  const lease = (await store.lease(key, 5_000))!
  expect(await store.lease(key, 5_000)).toBeUndefined()
  const id = await lease.write({ accessToken: 'token', tokenType: 'Bearer', scope: [] }, 60_000)
  await lease.release()
  expect(await store.read(key)).toMatchObject({ id, response: { accessToken: 'token' } })
  await store.remove(key, id!)
  expect(await store.read(key)).toBeUndefined()
  await close()
}
