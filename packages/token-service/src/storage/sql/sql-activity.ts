import { and, asc, desc, eq, gte, sql } from 'drizzle-orm'
import type { ActivityStorage } from '../storage.ts'
import type { Database } from './database.ts'
import { audit, secrets, usage } from './schema.ts'

export function createSqlActivity(database: Database): ActivityStorage {
  return {
    async record(batch) {
      await database.transaction(async (transaction) => {
        // Rows are taken in one order everywhere, so that instances cannot wait for each other in a circle.
        for (const { secretId, atMs } of [...batch.lastUses].sort((a, b) =>
          a.secretId < b.secretId ? -1 : 1,
        )) {
          await transaction
            .update(secrets)
            .set({ lastUsedAtMs: sql`greatest(${secrets.lastUsedAtMs}, ${atMs}::bigint)` })
            .where(eq(secrets.id, secretId))
        }
        if (batch.usage.length > 0) {
          await transaction
            .insert(usage)
            .values([...batch.usage].sort((a, b) => (a.applicationId < b.applicationId ? -1 : 1)))
            .onConflictDoUpdate({
              target: [usage.applicationId, usage.hourMs],
              set: { tokens: sql`${usage.tokens} + excluded.tokens` },
            })
        }
        if (batch.audit.length > 0) await transaction.insert(audit).values([...batch.audit])
      })
    },
    usage: async (applicationId, sinceMs) =>
      await database
        .select()
        .from(usage)
        .where(and(eq(usage.applicationId, applicationId), gte(usage.hourMs, sinceMs)))
        .orderBy(asc(usage.hourMs)),
    async audit(limit) {
      const rows = await database.select().from(audit).orderBy(desc(audit.id)).limit(limit)
      return rows.map(({ atMs, event, clientId, address, detail, count }) => ({
        atMs,
        event,
        count,
        clientId: clientId ?? undefined,
        address: address ?? undefined,
        detail: detail ?? undefined,
      }))
    },
  }
}
