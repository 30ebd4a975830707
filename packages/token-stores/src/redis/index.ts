export type { IoRedisClient, NodeRedisClient, RedisTokenStoreClient } from './redis-client.ts'
export {
  createRedisTokenStore,
  type EntryUnreadableEvent,
  type RedisTokenStoreOptions,
} from './redis-token-store.ts'
