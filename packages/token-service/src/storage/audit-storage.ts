import { sql, type ExpressionBuilder, type RawBuilder, type Selectable } from 'kysely'
import type { Database, Query } from './database.ts'
import type { Schema } from './schema.ts'

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
  /** Grows with each entry; numbers are left out, and none is used twice. */
  readonly id: number
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
  /** Each of them must match. */
  readonly words?: readonly AuditWord[] | undefined
}

/** A word of a search: a part of the name of who did it or what it was about, an address, or a setting that was changed. */
export interface AuditWord {
  readonly text: string
  /** The settings that have the word in what people call them. */
  readonly settings: readonly string[]
}

export interface AuditRetention {
  /** Entries before that time are deleted. */
  readonly beforeMs: number
  /** No entry is later, unless a clock was wrong. */
  readonly nowMs: number
}

const listedColumns = [
  'id',
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

const searchedAtOnce = 5_000

export function auditStorage(database: Database) {
  const { query } = database
  return {
    /** Adds the entries of an act, in its own transaction; returns their IDs. */
    async append(entries: readonly AuditEntry[]): Promise<number[]> {
      const ids: number[] = []
      for (const entry of entries) {
        const { id } = await query
          .insertInto('audit')
          .values(toAuditRow(entry))
          .returning('id')
          .executeTakeFirstOrThrow()
        ids.push(id)
      }
      return ids
    },
    /** The newest first; `before`: only entries with a smaller ID. */
    async list(limit: number, filter: AuditFilter = {}, before?: number): Promise<StoredAuditEntry[]> {
      const read = async (most: number, below: number | undefined, from: number) => {
        const rows = await query
          .selectFrom('audit')
          .select(listedColumns)
          .where((row) =>
            row.and([
              ...conditions(row, filter),
              ...(filter.words ?? []).map((word) => row.or(placesOf(word, database.kind))),
            ]),
          )
          .$if(below !== undefined, (all) => all.where('id', '<', below ?? 0))
          .$if(from > 0, (all) => all.where('id', '>=', from))
          .orderBy('id', 'desc')
          .limit(most)
          .execute()
        return rows.map(toAuditEntry)
      }
      if (!filter.words || filter.words.length === 0) return read(limit, before, 0)
      // No index has parts of names: a search reads one part of the log after the other, and nothing else waits for all of it.
      const found: StoredAuditEntry[] = []
      const { last, first } = await query
        .selectFrom('audit')
        .select((row) => [row.fn.max('id').as('last'), row.fn.min('id').as('first')])
        .executeTakeFirstOrThrow()
      let below = Math.min(before ?? Infinity, (last ?? 0) + 1)
      while (found.length < limit && below > (first ?? Infinity)) {
        found.push(...(await read(limit - found.length, below, below - searchedAtOnce)))
        below -= searchedAtOnce
      }
      return found
    },
    /**
     * The entries of acts with a larger ID, the oldest first: none is added before one that was read. What is only counted is not
     * among them.
     */
    async after(id: number, limit: number, filter: AuditFilter = {}): Promise<StoredAuditEntry[]> {
      const rows = await query
        .selectFrom('audit')
        .select(listedColumns)
        .where((row) => row.and(conditions(row, filter)))
        .where('countedKey', 'is', null)
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit)
        .execute()
      return rows.map(toAuditEntry)
    },
    /** Whether there are entries of acts before that time. */
    async hasBefore(atMs: number): Promise<boolean> {
      const old = query
        .selectFrom('audit')
        .select('id')
        .where('countedKey', 'is', null)
        .where('atMs', '<', atMs)
        .limit(1)
      return (await old.executeTakeFirst()) !== undefined
    },
    /** Deletes the oldest entries, up to the first whose retention has not ended; only in an act. */
    async purge(retention: AuditRetention): Promise<PurgedEntries | undefined> {
      const purged = await findPurgeable(query, retention)
      if (!purged) return undefined
      await allowDeletion(query, purged.last)
      await query.deleteFrom('audit').where('countedKey', 'is', null).where('id', '<=', purged.last).execute()
      return purged
    },
  }
}

/** The IDs of the first and the last entry. */
export interface PurgedEntries {
  readonly first: number
  readonly last: number
}

/** One purge deletes at most so many entries; the next one continues. */
const purgeSize = 10_000

/** The entries that are old enough, and before which nothing younger was written. */
async function findPurgeable(
  query: Query,
  { beforeMs, nowMs }: AuditRetention,
): Promise<PurgedEntries | undefined> {
  const oldest = await query
    .selectFrom('audit')
    .select(['id', 'atMs'])
    .where('countedKey', 'is', null)
    .orderBy('id')
    .limit(purgeSize)
    .execute()
  // A time later than now was written while the clock was wrong: what follows tells how old the entry is.
  const end = oldest.findIndex(({ atMs }) => atMs >= beforeMs && atMs <= nowMs)
  const last = oldest.slice(0, end === -1 ? undefined : end).findLast(({ atMs }) => atMs < beforeMs)
  return last && { first: oldest[0]!.id, last: last.id }
}

/** The database rejects the deletion of entries with a larger ID. */
export async function allowDeletion(query: Query, upToId: number): Promise<void> {
  await query.updateTable('auditRetention').set({ endedId: upToId }).execute()
}

function placesOf({ text, settings }: AuditWord, kind: Database['kind']): RawBuilder<boolean>[] {
  const position = sql.raw(kind === 'sqlite' ? 'instr' : 'strpos')
  const contains = (column: string, part: string) =>
    sql<boolean>`${position}(${sql.raw(column)}, ${part}) > 0`
  return [
    contains('lower(audit.actor)', text),
    sql<boolean>`audit.actor_id in (select id from developers where ${contains('folded_name', text)})`,
    sql<boolean>`${position}(lower(audit.client_id), ${text}) = 1`,
    sql<boolean>`audit.client_id in (select client_id from applications where ${contains('folded_name', text)})`,
    sql<boolean>`audit.client_id in (select client_id from resource_servers where ${contains('lower(name)', text)})`,
    contains('lower(audit.detail)', text),
    sql<boolean>`audit.address = ${text}`,
    // What is new has no old value: it was not changed.
    ...settings.map((name) => contains('audit.changes', `"${name}":{"from"`)),
  ]
}

function conditions(
  row: ExpressionBuilder<Schema, 'audit'>,
  { sinceMs, untilMs, events, words: _words, ...equal }: AuditFilter,
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
function toAuditEntry({
  changes,
  ...row
}: Pick<Selectable<Schema['audit']>, (typeof listedColumns)[number]>): StoredAuditEntry {
  const set = Object.entries(row).filter(([, value]) => value !== null)
  const entry = Object.fromEntries(set) as Omit<StoredAuditEntry, 'changes'>
  return changes === null ? entry : { ...entry, changes: JSON.parse(changes) as Changes }
}
