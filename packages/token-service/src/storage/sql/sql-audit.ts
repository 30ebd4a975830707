import { sql, type ExpressionBuilder, type Selectable } from 'kysely'
import {
  checkpointText,
  entryText,
  type AuditEntry,
  type AuditFilter,
  type AuditStorage,
  type ChainedEntry,
  type Changes,
  type Checkpoint,
  type Sign,
  type StoredAuditEntry,
} from '../audit-storage.ts'
import { countDeleted, inTransaction, type Database, type Query, type Schema } from './database.ts'

type End = 'start' | 'head'

const listedColumns = [
  'id',
  'sequence',
  'atMs',
  'event',
  'actorType',
  'actor',
  'actorId',
  'clientId',
  'address',
  'detail',
  'changes',
  'count',
] as const

export function createSqlAudit(database: Database): AuditStorage {
  const { query } = database
  return {
    append: (entries, sign) =>
      oneAfterAnother(database, async (transaction) => {
        let { sequence, mac } = (await checkpoint(transaction, 'head')) ?? { sequence: 0, mac: '' }
        for (const entry of entries) {
          sequence += 1
          const { keyId, hash } = sign(entryText(entry, sequence, mac))
          mac = hash
          await transaction
            .insertInto('audit')
            .values({ ...toAuditRow(entry), sequence, keyId, mac })
            .execute()
        }
        await setCheckpoint(transaction, 'head', { sequence, mac }, sign)
      }),
    async list(limit, filter = {}, before) {
      const rows = await query
        .selectFrom('audit')
        .select(listedColumns)
        .where((row) => row.and(conditions(row, filter)))
        .$if(before !== undefined, (all) => all.where('id', '<', before ?? 0))
        .orderBy('id', 'desc')
        .limit(limit)
        .execute()
      return rows.map((row) => toAuditEntry(row) as StoredAuditEntry)
    },
    async purge(beforeMs, sign) {
      const counted = query.deleteFrom('audit').where('sequence', 'is', null)
      const deleted = await countDeleted(counted.where('atMs', '<', beforeMs))
      // The clocks of instances may differ a little: the order of the chain counts.
      const last = await query
        .selectFrom('audit')
        .select(['sequence', 'mac'])
        .where('sequence', 'is not', null)
        .where('atMs', '<', beforeMs)
        .orderBy('atMs', 'desc')
        .orderBy('sequence', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (!last) return deleted
      const place = last as Checkpoint
      return oneAfterAnother(database, async (transaction) => {
        await setCheckpoint(transaction, 'start', { sequence: place.sequence, mac: place.mac }, sign)
        const chained = transaction.deleteFrom('audit').where('sequence', '<=', place.sequence)
        return deleted + (await countDeleted(chained))
      })
    },
    async chain(afterSequence, limit) {
      const rows = await query
        .selectFrom('audit')
        .selectAll()
        .where('sequence', '>', afterSequence)
        .orderBy('sequence')
        .limit(limit)
        .execute()
      return rows.map((row) => toAuditEntry(row) as ChainedEntry)
    },
    async checkpoints() {
      return { start: await checkpoint(query, 'start'), head: await checkpoint(query, 'head') }
    },
    async countedEvents() {
      const rows = await query
        .selectFrom('audit')
        .select('event')
        .distinct()
        .where('sequence', 'is', null)
        .execute()
      return rows.map(({ event }) => event)
    },
  }
}

/** Runs one transaction at a time, in all instances: the chain has one end, and each act sees what the last one did. */
export function oneAfterAnother<Result>(
  database: Database,
  work: (transaction: Query) => Promise<Result>,
): Promise<Result> {
  return inTransaction(database.query, async (transaction) => {
    if (database.kind === 'postgres') {
      await sql`lock table audit_checkpoints in share row exclusive mode`.execute(transaction)
    }
    return work(transaction)
  })
}

function checkpoint(query: Query, end: End): Promise<Checkpoint | undefined> {
  return query
    .selectFrom('auditCheckpoints')
    .select(['sequence', 'mac', 'keyId', 'signature'])
    .where('end', '=', end)
    .executeTakeFirst()
}

async function setCheckpoint(
  query: Query,
  end: End,
  place: Pick<Checkpoint, 'sequence' | 'mac'>,
  sign: Sign,
): Promise<void> {
  const { keyId, hash: signature } = sign(checkpointText(end, place))
  await query
    .insertInto('auditCheckpoints')
    .values({ end, ...place, history: '', keyId, signature })
    .onConflict((conflict) => conflict.column('end').doUpdateSet({ ...place, keyId, signature }))
    .execute()
}

function conditions(
  row: ExpressionBuilder<Schema, 'audit'>,
  { sinceMs, untilMs, events, ...equal }: AuditFilter,
) {
  return [
    ...(sinceMs === undefined ? [] : [row('atMs', '>=', sinceMs)]),
    ...(untilMs === undefined ? [] : [row('atMs', '<', untilMs)]),
    ...(events === undefined ? [] : [row('event', 'in', events)]),
    ...(['event', 'actor', 'clientId', 'address'] as const)
      .filter((column) => equal[column] !== undefined)
      .map((column) => row(column, '=', equal[column] ?? '')),
  ]
}

export function toAuditRow({ changes, ...entry }: AuditEntry) {
  return { ...entry, changes: changes && JSON.stringify(changes) }
}

/** Without the columns that are null. */
function toAuditEntry({ changes, ...row }: Partial<Selectable<Schema['audit']>>): Partial<ChainedEntry> {
  const set = Object.entries(row).filter(([, value]) => value !== null)
  return {
    ...Object.fromEntries(set),
    ...(typeof changes === 'string' && { changes: JSON.parse(changes) as Changes }),
  }
}
