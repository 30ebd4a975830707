import { lte, sql } from 'drizzle-orm'
import { digest } from '../../digest.ts'
import type { FailureStorage } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import type { Database } from './database.ts'
import { failures } from './schema.ts'

interface Failure {
  readonly key: string
  readonly nowMs: number
  readonly windowMs: number
}

/** Keys are kept as digests: what people send as their client ID is nothing to be read in a database. */
export function createSqlFailures(database: Database): FailureStorage {
  const selectAll = database
    .select()
    .from(failures)
    .where(sql`${failures.key} = any(${sql.placeholder('keys')}::text[])`)
    .prepare('find_failures')

  const find = createBatcher<string, typeof failures.$inferSelect | undefined>(
    async (keys) => {
      const rows = await selectAll.execute({ keys })
      const found = new Map(rows.map((row) => [row.key, row]))
      return keys.map((key) => found.get(key))
    },
    { concurrency: 2 },
  )

  const add = createBatcher<Failure, undefined>(async (batch) => {
    const rows = new Map<string, { key: string; count: number; resetsAtMs: number }>()
    for (const { key, nowMs, windowMs } of batch) {
      rows.set(key, { key, count: (rows.get(key)?.count ?? 0) + 1, resetsAtMs: nowMs + windowMs })
    }
    const nowMs = Math.max(...batch.map((failure) => failure.nowMs))
    const over = sql`${failures.resetsAtMs} <= ${nowMs}`
    await database
      .insert(failures)
      // In one order everywhere, so that instances cannot wait for each other in a circle.
      .values([...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1)))
      .onConflictDoUpdate({
        target: failures.key,
        set: {
          count: sql`case when ${over} then excluded.count else ${failures.count} + excluded.count end`,
          resetsAtMs: sql`case when ${over} then excluded.resets_at else ${failures.resetsAtMs} end`,
        },
      })
    return []
  })

  return {
    async find(key, nowMs) {
      const failure = await find(digest(key))
      return failure && failure.resetsAtMs > nowMs ? failure : undefined
    },
    add: (key, nowMs, windowMs) => add({ key: digest(key), nowMs, windowMs }),
    async purge(nowMs) {
      const deleted = await database.delete(failures).where(lte(failures.resetsAtMs, nowMs)).returning()
      return deleted.length
    },
    async clear() {
      await database.delete(failures)
    },
  }
}
