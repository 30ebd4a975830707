import { sql, type ExpressionBuilder, type Selectable } from 'kysely'
import {
  chainBroken,
  chainStart,
  isHead,
  isStart,
  linkOf,
  signEntry,
  signHead,
  signStart,
  unknownEnd,
  withCode,
} from './audit-chain.ts'
import type {
  AuditEntry,
  AuditFilter,
  AuditKeyring,
  AuditRetention,
  AuditStorage,
  ChainedEntry,
  Changes,
  Checkpoint,
  PurgedCode,
  StartCheckpoint,
  StoredAuditEntry,
} from './audit-storage.ts'
import { countDeleted, oneAfterAnother, jsonRows, type Database, type Query } from './database.ts'
import type { Schema } from './schema.ts'

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
    append: (entries, keyring, isFirst = false) =>
      oneAfterAnother(database, async (transaction) => {
        const { place, problem } = isFirst
          ? { place: chainStart, problem: undefined }
          : await findEnd(transaction, keyring)
        const by = { actorType: 'service', atMs: entries[0]?.atMs ?? 0, count: 1 } as const
        const broken = problem === undefined ? [] : [{ event: chainBroken, detail: problem, ...by }]
        let last = place
        for (const entry of [...broken, ...entries]) {
          const signed = signEntry(entry, last, keyring)
          await transaction
            .insertInto('audit')
            .values({ ...toAuditRow(entry), ...signed })
            .execute()
          last = signed
        }
        await setCheckpoint(transaction, 'head', signHead(last, keyring))
        return problem
      }),
    renewSignatures: (keyring) =>
      oneAfterAnother(database, async (transaction) => {
        const { start, head } = await checkpoints(transaction)
        const isOld = ({ keyId }: Checkpoint) => keyId !== keyring.keyIds[0]
        if (head && isOld(head) && isHead(head, keyring))
          await setCheckpoint(transaction, 'head', signHead(head, keyring))
        if (start && isOld(start) && isStart(start, keyring))
          await setCheckpoint(transaction, 'start', signStart(start, keyring))
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
    async purge(retention, keyring) {
      const { start } = await checkpoints(query)
      const codes = await findPurgeable(query, start, retention, keyring)
      const last = codes.at(-1)
      if (!last) return 0
      return oneAfterAnother(database, async (transaction) => {
        const current = await checkpoints(transaction)
        // Another instance was faster; or something was manipulated, and stays as it is.
        if (current.start?.sequence !== start?.sequence || (await isManipulated(transaction, start, keyring)))
          return 0
        for (let from = 0; from < codes.length; from += pageSize) {
          await transaction
            .insertInto('purgedAuditCodes')
            .columns(['sequence', 'mac'])
            .expression(
              sql`select cast(value->>0 as bigint), value->>1 from ${jsonRows(
                database,
                codes.slice(from, from + pageSize).map(({ sequence, mac }) => [sequence, mac]),
              )}`,
            )
            .execute()
        }
        const history = codes.reduce(withCode, start?.history ?? '')
        await setCheckpoint(transaction, 'start', signStart({ ...last, history }, keyring))
        const chained = transaction.deleteFrom('audit').where('sequence', '<=', last.sequence)
        const count = await countDeleted(chained)
        const entry = {
          event: 'audit_purged',
          actorType: 'service',
          atMs: retention.nowMs,
          count: 1,
          detail: `${codes[0]!.sequence} to ${last.sequence}`,
        } as const
        await createSqlAudit({ ...database, query: transaction }).append([entry], keyring)
        return count
      })
    },
    chain: (afterSequence, limit) => readChain(query, afterSequence, limit),
    purgedCodes: (afterSequence, limit) =>
      query
        .selectFrom('purgedAuditCodes')
        .selectAll()
        .where('sequence', '>', afterSequence)
        .orderBy('sequence')
        .limit(limit)
        .execute(),
    checkpoints: () => checkpoints(query),
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

async function checkpoints(
  query: Query,
): Promise<{ start: StartCheckpoint | undefined; head: Checkpoint | undefined }> {
  const rows = await query
    .selectFrom('auditCheckpoints')
    .selectAll()
    .where('end', 'in', ['start', 'head'])
    .execute()
  const start = rows.find(({ end }) => end === 'start')
  const head = rows.find(({ end }) => end === 'head')
  const placeOf = ({ sequence, mac, keyId, signature }: Checkpoint) => ({ sequence, mac, keyId, signature })
  return {
    start: start && { ...placeOf(start), history: start.history },
    head: head && placeOf(head),
  }
}

async function setCheckpoint(
  query: Query,
  end: 'start' | 'head',
  { history = '', ...checkpoint }: Checkpoint & { readonly history?: string },
): Promise<void> {
  const values = { ...checkpoint, history }
  await query
    .insertInto('auditCheckpoints')
    .values({ end, ...values })
    .onConflict((conflict) => conflict.column('end').doUpdateSet(values))
    .execute()
}

async function readChain(query: Query, afterSequence: number, limit: number): Promise<ChainedEntry[]> {
  const rows = await query
    .selectFrom('audit')
    .selectAll()
    .where('sequence', '>', afterSequence)
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ keyId: '', mac: '', ...toAuditEntry(row) }) as ChainedEntry)
}

/** Whether a purge would remove what shows that somebody else has changed the log. */
async function isManipulated(
  query: Query,
  start: StartCheckpoint | undefined,
  keyring: AuditKeyring,
): Promise<boolean> {
  if ((await findEnd(query, keyring)).problem !== undefined) return true
  const { sequence } = start ?? chainStart
  const added = query.selectFrom('audit').select('sequence').where('sequence', '<=', sequence).limit(1)
  const code = query
    .selectFrom('purgedAuditCodes')
    .select('sequence')
    .where('sequence', '>', sequence)
    .limit(1)
  return (await added.executeTakeFirst()) !== undefined || (await code.executeTakeFirst()) !== undefined
}

/** Where the next entry is appended, and why that is not the end that the service signed. */
async function findEnd(
  query: Query,
  keyring: AuditKeyring,
): Promise<{ place: Pick<ChainedEntry, 'sequence' | 'mac'>; problem: string | undefined }> {
  const { start, head } = await checkpoints(query)
  const { last } = await query
    .selectFrom('audit')
    .select((row) => row.fn.max('sequence').as('last'))
    .executeTakeFirstOrThrow()
  const anew = { sequence: Math.max(last ?? 0, start?.sequence ?? 0), mac: '' }
  if (!head) return { place: anew, problem: 'the signed end was removed' }
  if (!keyring.keyIds.includes(head.keyId))
    return {
      place: anew,
      problem: `${unknownEnd}"${head.keyId}", which is not configured`,
    }
  if (!isHead(head, keyring)) return { place: anew, problem: 'the signed end was changed' }
  if (last !== null && last > head.sequence)
    return { place: anew, problem: `entries after ${head.sequence} were added` }
  return { place: head, problem: undefined }
}

const pageSize = 1_000
/** One purge deletes at most so many entries; the next one continues. */
const purgeSize = 10_000

/** The codes of the entries whose retention has ended. Each of them was checked: an attacker cannot make the service delete others. */
async function findPurgeable(
  query: Query,
  start: StartCheckpoint | undefined,
  { beforeMs, nowMs }: AuditRetention,
  keyring: AuditKeyring,
): Promise<PurgedCode[]> {
  const codes: PurgedCode[] = []
  let end = 0
  let last: PurgedCode = start ?? chainStart
  let isIntact = !start || isStart(start, keyring)
  const someOld = query.selectFrom('audit').select('id').where('atMs', '<', beforeMs).limit(1)
  if (!(await someOld.executeTakeFirst())) return []
  while (end < purgeSize) {
    const page = await readChain(query, last.sequence, pageSize)
    for (const entry of page) {
      const link = linkOf(entry, last, keyring)
      isIntact = link === 'broken' || (link === 'follows' && isIntact)
      // Those with a later time than now were written while the clock was wrong: what follows tells how old they are.
      if (isIntact && entry.atMs >= beforeMs && entry.atMs <= nowMs) return codes.slice(0, end)
      last = { sequence: entry.sequence, mac: entry.mac }
      codes.push(last)
      if (isIntact && entry.atMs < beforeMs) end = codes.length
    }
    if (page.length < pageSize) break
  }
  return codes.slice(0, end)
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
    ...(typeof changes === 'string' && { changes: parseChanges(changes) }),
  }
}

function parseChanges(text: string): Changes {
  try {
    return JSON.parse(text) as Changes
  } catch {
    // The service has not written it: the entry's code does not match.
    return { unreadable: { to: text } }
  }
}
