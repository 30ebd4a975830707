import { sql } from 'kysely'
import type { ActivityStorage, UsageEntry } from './activity-storage.ts'
import { rehashSecrets } from './hash-keys.ts'
import { anyOf, countDeleted, type Database } from './database.ts'
import { toAuditRow } from './sql-audit.ts'

export function createSqlActivity(database: Database): ActivityStorage {
  const { query } = database
  return {
    async record(batch) {
      // Every instance writes rows in the same order, so that two cannot block each other.
      const lastUses = [...batch.lastUses].sort(byText(({ id }) => id))
      const usage = [...batch.usage, ...totals(batch.usage)].sort(
        byText(({ clientId, outcome }) => `${clientId} ${outcome}`),
      )
      const requests = [...batch.requests].sort(
        byText(({ clientId, outcome, address }) => `${clientId} ${outcome} ${address}`),
      )
      await query.transaction().execute(async (transaction) => {
        if (lastUses.length > 0) {
          await transaction
            .insertInto('lastUses')
            .values(lastUses)
            .onConflict((conflict) =>
              conflict
                .column('id')
                .doUpdateSet((row) => ({ atMs: row.ref('excluded.atMs') }))
                .where((row) => row('lastUses.atMs', '<', row.ref('excluded.atMs'))),
            )
            .execute()
        }
        if (usage.length > 0) {
          await transaction
            .insertInto('usage')
            .values(usage)
            .onConflict((conflict) =>
              conflict
                .columns(['clientId', 'hourMs', 'outcome'])
                .doUpdateSet({ requests: sql`usage.requests + excluded.requests` }),
            )
            .execute()
        }
        if (requests.length > 0) {
          await transaction
            .insertInto('tokenRequests')
            .values(requests)
            .onConflict((conflict) =>
              conflict.columns(['clientId', 'minuteMs', 'outcome', 'address']).doUpdateSet({
                count: sql`token_requests.count + excluded.count`,
                atMs: sql`excluded.at_ms`,
              }),
            )
            .execute()
        }
        await rehashSecrets(transaction, batch.rehashed)
        if (batch.events.length > 0) {
          await transaction.insertInto('audit').values(batch.events.map(toAuditRow)).execute()
        }
      })
    },
    async lastUses(ids) {
      const rows = await query
        .selectFrom('lastUses')
        .selectAll()
        .where('id', 'in', anyOf(database, ids))
        .execute()
      return new Map(rows.map(({ id, atMs }) => [id, atMs]))
    },
    purgeLastUses: (beforeMs) =>
      countDeleted(
        query
          .deleteFrom('lastUses')
          .where((row) =>
            row.and([
              row('atMs', '<', beforeMs),
              row('id', 'not in', row.selectFrom('applications').select('id')),
              row('id', 'not in', row.selectFrom('secrets').select('id')),
              row('id', 'not in', row.selectFrom('resourceServers').select('id')),
              row('id', 'not in', keyIds(database, 'applications')),
              row('id', 'not in', keyIds(database, 'resourceServers')),
            ]),
          ),
      ),
    usage: (clientId, sinceMs) =>
      query
        .selectFrom('usage')
        .selectAll()
        .where('clientId', '=', clientId)
        .where('hourMs', '>=', sinceMs)
        .orderBy('hourMs')
        .execute(),
    purgeUsage: (beforeMs) => countDeleted(query.deleteFrom('usage').where('hourMs', '<', beforeMs)),
    requests: (clientId, limit) =>
      query
        .selectFrom('tokenRequests')
        .selectAll()
        .where('clientId', '=', clientId)
        .orderBy('minuteMs', 'desc')
        .orderBy('atMs', 'desc')
        .limit(limit)
        .execute(),
    purgeRequests: (beforeMs) => countDeleted(query.deleteFrom('tokenRequests').where('atMs', '<', beforeMs)),
  }
}

/** The usage of all clients together, under no client ID: the overview does not add up a row for each of them. */
function totals(usage: readonly UsageEntry[]): UsageEntry[] {
  const sums = new Map<string, UsageEntry>()
  for (const { hourMs, outcome, requests } of usage) {
    const key = `${hourMs} ${outcome}`
    sums.set(key, { clientId: '', hourMs, outcome, requests: requests + (sums.get(key)?.requests ?? 0) })
  }
  return [...sums.values()]
}

/** The IDs of the public keys of all clients. */
function keyIds({ kind }: Database, table: 'applications' | 'resourceServers') {
  const objects = kind === 'sqlite' ? sql`json_each(keys)` : sql`json_array_elements(keys::json)`
  return sql<string>`(select value->>'id' from ${sql.table(table)}, ${objects})`
}

function byText<Entry>(text: (entry: Entry) => string): (a: Entry, b: Entry) => number {
  return (a, b) => (text(a) < text(b) ? -1 : 1)
}
