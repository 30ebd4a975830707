import { sql } from 'kysely'
import type { Migration } from './migration.ts'

/** The queue of approvals is sorted by when something was requested. */
export const requestTimes: Migration = {
  name: '0010-request-times',
  statements: () => [
    `alter table applications add column requested_at_ms bigint not null default 0`,
    `drop index applications_awaiting`,
    `create index applications_awaiting on applications (requested_at_ms, id)
      where status = 'pending' or requested is not null`,
  ],
  async change(query) {
    const { rows } = await sql<{ id: string; createdAtMs: number; review: string | null }>`
      select id, created_at_ms, review from applications`.execute(query)
    for (const { id, createdAtMs, review } of rows) {
      const { requestedAtMs = createdAtMs } = JSON.parse(review ?? '{}') as { requestedAtMs?: number }
      await sql`update applications set requested_at_ms = ${requestedAtMs} where id = ${id}`.execute(query)
    }
    return []
  },
}
