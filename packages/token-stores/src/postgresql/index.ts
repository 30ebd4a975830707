export {
  createPostgresqlTokenStore,
  type EntryUnreadableEvent,
  type PostgresqlClient,
  type PostgresqlTokenStoreOptions,
} from './postgresql-token-store.ts'
