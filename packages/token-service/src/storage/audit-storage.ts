import { sql, type ExpressionBuilder, type Selectable } from 'kysely'
import { digest } from '../runtime/digest.ts'
import type { Keyring } from '../runtime/keyring.ts'
import { countDeleted, oneAfterAnother, jsonRows, type Database, type Query } from './database.ts'
import type { Schema } from './schema.ts'

/** Signs entries and the ends of the chain with keys that are not in the database. */
export type AuditKeyring = Pick<Keyring, 'keyIds' | 'hash' | 'matching'> & {
  /** With the keys that were removed after they had signed this entry; they check it, and sign nothing. */
  readonly forEntry?: (sequence: number) => AuditKeyring
}

/** Who does something, and from where. */
export interface Actor {
  /** A developer of the portal, the administrators' HTTP API, the command, or the service itself. */
  readonly actorType: 'person' | 'api' | 'command' | 'service'
  /** The name: of a developer, or of the user that the command reports. */
  readonly actor?: string | undefined
  /** The ID of the developer. */
  readonly actorId?: string | undefined
  readonly address?: string | undefined
}

/** Old and new values by name; the old one is missing if something was created. */
export type Changes = Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>

export interface AuditEvent extends Partial<Actor> {
  readonly event: string
  readonly clientId?: string | undefined
  readonly detail?: string | undefined
  readonly changes?: Changes | undefined
}

export interface AuditEntry extends AuditEvent {
  readonly atMs: number
  /** How many identical events the entry stands for. */
  readonly count: number
}

export interface StoredAuditEntry extends AuditEntry {
  /** Grows with each entry. */
  readonly id: number
  /** Its number in the chain; undefined for events that are only counted. */
  readonly sequence?: number | undefined
}

/** Only the entries that match every member. */
export interface AuditFilter {
  readonly event?: string | undefined
  /** Any of these events. */
  readonly events?: readonly string[] | undefined
  readonly actor?: string | undefined
  readonly clientId?: string | undefined
  readonly address?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** An entry of the chain: each has a code (HMAC) of itself and of the code before. */
export interface ChainedEntry extends StoredAuditEntry {
  readonly sequence: number
  readonly keyId: string
  readonly mac: string
}

/** The last entry of the chain, or the last one that was deleted after its retention. */
export interface Checkpoint {
  readonly sequence: number
  readonly mac: string
  readonly keyId: string
  readonly signature: string
}

/** Where the chain starts since entries were deleted. */
export interface StartCheckpoint extends Checkpoint {
  /** A digest of the codes of all deleted entries. */
  readonly history: string
}

/** The code of an entry that was deleted; checkpoints that were kept elsewhere are compared with it. */
export type PurgedCode = Pick<ChainedEntry, 'sequence' | 'mac'>

export interface AuditRetention {
  /** Entries before that time are deleted. */
  readonly beforeMs: number
  /** No entry is later, unless a clock was wrong. */
  readonly nowMs: number
}

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

export type AuditStorage = ReturnType<typeof auditStorage>

export function auditStorage(database: Database) {
  const { query } = database
  return {
    /**
     * Appends to the chain; only in the transaction of the act itself. If the end of the chain is not the one that the service
     * signed, an entry says so first, and the verification of the log fails from then on.
     *
     * @param isFirst for a new database
     * @returns what was found to be wrong
     */
    append: (
      entries: readonly AuditEntry[],
      keyring: AuditKeyring,
      isFirst = false,
    ): Promise<string | undefined> =>
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
    /** Signs both ends with the newest key, so that an older key of the keyring can be removed. */
    renewSignatures: (keyring: AuditKeyring): Promise<void> =>
      oneAfterAnother(database, async (transaction) => {
        const { start, head } = await checkpoints(transaction)
        const isOld = ({ keyId }: Checkpoint) => keyId !== keyring.keyIds[0]
        if (head && isOld(head) && isHead(head, keyring))
          await setCheckpoint(transaction, 'head', signHead(head, keyring))
        if (start && isOld(start) && isStart(start, keyring))
          await setCheckpoint(transaction, 'start', signStart(start, keyring))
      }),
    /** The newest first; `before`: only entries with a smaller ID. */
    async list(limit: number, filter: AuditFilter = {}, before?: number): Promise<StoredAuditEntry[]> {
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
    /**
     * Deletes the entries before that time, as far as each follows from the one before, and signs where the chain starts then; an
     * entry says what was deleted. Returns how many there were.
     */
    async purge(retention: AuditRetention, keyring: AuditKeyring): Promise<number> {
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
        await auditStorage({ ...database, query: transaction }).append([entry], keyring)
        return count
      })
    },
    /** Entries of the chain with a larger number, in their order. */
    chain: (afterSequence: number, limit: number) => readChain(query, afterSequence, limit),
    /** The codes of deleted entries with a larger number, in their order. */
    purgedCodes: (afterSequence: number, limit: number): Promise<PurgedCode[]> =>
      query
        .selectFrom('purgedAuditCodes')
        .selectAll()
        .where('sequence', '>', afterSequence)
        .orderBy('sequence')
        .limit(limit)
        .execute(),
    checkpoints: () => checkpoints(query),
    /** The events of the entries outside the chain. */
    async countedEvents(): Promise<string[]> {
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

/** The entry that begins the chain anew after its end was not the one that the service signed. */
const chainBroken = 'audit_interrupted'

/** How it says so if the key of the end is missing. */
export const unknownEnd = 'the end was signed with the key '

/** What precedes the first entry. */
export const chainStart = { sequence: 0, mac: '' }

function signEntry(
  entry: AuditEntry,
  { sequence, mac: previousMac }: Pick<ChainedEntry, 'sequence' | 'mac'>,
  keyring: AuditKeyring,
): { sequence: number; keyId: string; mac: string } {
  const { keyId, hash: mac } = keyring.hash(entryText(entry, sequence + 1, previousMac))
  return { sequence: sequence + 1, keyId, mac }
}

/** Whether an entry is as the service wrote it, directly after the one with the code `previousMac`. */
function isEntry(entry: ChainedEntry, previousMac: string, keyring: AuditKeyring): boolean {
  const text = entryText(entry, entry.sequence, previousMac)
  return isSigned(text, { ...entry, hash: entry.mac }, keyringOf(entry, keyring))
}

/** The keys that may have signed an entry. */
export function keyringOf({ sequence }: { readonly sequence: number }, keyring: AuditKeyring): AuditKeyring {
  return keyring.forEntry?.(sequence) ?? keyring
}

/** How an entry follows from the one before it; `broken`: it begins the chain anew; `unknown`: the key that signed it is missing. */
export function linkOf(
  entry: ChainedEntry,
  previous: Pick<ChainedEntry, 'sequence' | 'mac'>,
  keyring: AuditKeyring,
): 'follows' | 'broken' | 'gap' | 'changed' | 'unknown' {
  if (entry.event === chainBroken && isEntry(entry, '', keyring)) return 'broken'
  if (entry.sequence !== previous.sequence + 1) return 'gap'
  if (isEntry(entry, previous.mac, keyring)) return 'follows'
  return keyringOf(entry, keyring).keyIds.includes(entry.keyId) ? 'changed' : 'unknown'
}

function signHead(
  { sequence, mac }: Pick<Checkpoint, 'sequence' | 'mac'>,
  keyring: AuditKeyring,
): Checkpoint {
  const { keyId, hash: signature } = keyring.hash(headText(sequence, mac))
  return { sequence, mac, keyId, signature }
}

export function isHead({ sequence, mac, keyId, signature }: Checkpoint, keyring: AuditKeyring): boolean {
  return isSigned(headText(sequence, mac), { keyId, hash: signature }, keyring)
}

function signStart(
  { sequence, mac, history }: Pick<StartCheckpoint, 'sequence' | 'mac' | 'history'>,
  keyring: AuditKeyring,
): StartCheckpoint {
  const { keyId, hash: signature } = keyring.hash(startText(sequence, mac, history))
  return { sequence, mac, history, keyId, signature }
}

export function isStart(
  { sequence, mac, history, keyId, signature }: StartCheckpoint,
  keyring: AuditKeyring,
): boolean {
  return isSigned(startText(sequence, mac, history), { keyId, hash: signature }, keyring)
}

/** The digest of the codes of all deleted entries, with one more. */
export function withCode(history: string, { sequence, mac }: PurgedCode): string {
  return digest(JSON.stringify([history, sequence, mac]))
}

function isSigned(
  text: string,
  { keyId, hash }: { readonly keyId: string; readonly hash: string },
  keyring: AuditKeyring,
): boolean {
  return keyring.matching([{ keyId, hash }], text).length > 0
}

function entryText(entry: AuditEntry, sequence: number, previousMac: string): string {
  const { atMs, event, actorType, actor, actorId, clientId, address, detail, changes, count } = entry
  const values = [atMs, event, actorType, actor, actorId, clientId, address, detail, changes, count]
  return JSON.stringify(['audit entry', previousMac, sequence, ...values])
}

function headText(sequence: number, mac: string): string {
  return JSON.stringify(['audit checkpoint', 'head', sequence, mac])
}

function startText(sequence: number, mac: string, history: string): string {
  return JSON.stringify(['audit checkpoint', 'start', sequence, mac, history])
}
