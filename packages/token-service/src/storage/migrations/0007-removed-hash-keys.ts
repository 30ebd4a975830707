import type { Migration } from './migration.ts'

/** Keys that secrets are no longer hashed with: which they were, and what checks the entries that they signed. */
export const removedHashKeys: Migration = {
  name: '0007-removed-hash-keys',
  statements: () => [
    `create table removed_hash_keys (
      key_id text primary key,
      removed_at_ms bigint not null,
      last_sequence bigint not null,
      encrypted_key text
    )`,
    `create index secrets_key on secrets (key_id, expires_at_ms)`,
  ],
}
