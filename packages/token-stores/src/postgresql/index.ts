export type { PostgresqlClient } from './postgresql-client.ts'
export {
  createPostgresqlTokenStore,
  type EntryUnreadableEvent,
  type PostgresqlTokenStoreOptions,
} from './postgresql-token-store.ts'
