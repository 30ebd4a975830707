import type { Migration } from './migration.ts'

/** Events that anybody can cause are counted by the hour, in rows that are found by what they count. */
export const countedEventKeys: Migration = {
  name: '0009-counted-events',
  statements: () => [
    'alter table audit add column counted_key text',
    'create unique index audit_counted_key on audit (counted_key)',
    'create index audit_counted on audit (at_ms) where sequence is null',
  ],
}
