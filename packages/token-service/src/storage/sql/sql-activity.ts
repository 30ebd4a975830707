import { sql } from 'kysely'
import type { ActivityStorage } from '../storage.ts'
import type { Database } from './database.ts'

export function createSqlActivity({ query }: Database): ActivityStorage {
  return {
    async record(batch) {
      // Every instance writes rows in the same order, so that two cannot block each other.
      const lastUses = [...batch.lastUses].sort((a, b) => (a.secretId < b.secretId ? -1 : 1))
      const usage = [...batch.usage].sort((a, b) => (a.applicationId < b.applicationId ? -1 : 1))
      await query.transaction().execute(async (transaction) => {
        for (const { secretId, atMs } of lastUses) {
          await transaction
            .updateTable('secrets')
            .set({ lastUsedAtMs: atMs })
            .where('id', '=', secretId)
            .where((is) => is.or([is('lastUsedAtMs', 'is', null), is('lastUsedAtMs', '<', atMs)]))
            .execute()
        }
        if (usage.length > 0) {
          await transaction
            .insertInto('usage')
            .values(usage)
            .onConflict((conflict) =>
              conflict
                .columns(['applicationId', 'hourMs'])
                .doUpdateSet({ tokens: sql`usage.tokens + excluded.tokens` }),
            )
            .execute()
        }
        if (batch.audit.length > 0) await transaction.insertInto('audit').values(batch.audit).execute()
      })
    },
    usage: (applicationId, sinceMs) =>
      query
        .selectFrom('usage')
        .selectAll()
        .where('applicationId', '=', applicationId)
        .where('hourMs', '>=', sinceMs)
        .orderBy('hourMs')
        .execute(),
    async audit(limit) {
      const rows = await query
        .selectFrom('audit')
        .select(['atMs', 'event', 'actor', 'clientId', 'address', 'detail', 'count'])
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return rows.map(({ actor, clientId, address, detail, ...entry }) => ({
        ...entry,
        actor: actor ?? undefined,
        clientId: clientId ?? undefined,
        address: address ?? undefined,
        detail: detail ?? undefined,
      }))
    },
    async purgeAudit(beforeMs) {
      const { numDeletedRows } = await query
        .deleteFrom('audit')
        .where('atMs', '<', beforeMs)
        .executeTakeFirstOrThrow()
      return Number(numDeletedRows)
    },
  }
}
