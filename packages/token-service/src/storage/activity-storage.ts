import { sql } from 'kysely'
import { digest } from '../runtime/digest.ts'
import type { AuditEventName } from './audit-event-names.ts'
import { toAuditRow, type AuditEntry, type AuditEvent } from './audit-storage.ts'
import { rehashSecrets, type RehashedSecret } from './hash-keys.ts'
import { anyOf, countDeleted, type Database, type Query } from './database.ts'

/** The result of a token request: `issued`, or why it was rejected. */
export type TokenRequestOutcome = string

/** How many token requests of an application had one outcome within one hour. */
export interface UsageEntry {
  /** In the database, an empty one stands for all clients together. */
  readonly clientId: string
  readonly hourMs: number
  readonly outcome: TokenRequestOutcome
  readonly requests: number
}

/** Token requests of an application from one address with one outcome within one minute. */
export interface TokenRequestEntry {
  readonly clientId: string
  readonly outcome: TokenRequestOutcome
  readonly address: string
  readonly minuteMs: number
  /** The latest of them. */
  readonly atMs: number
  readonly count: number
}

/** When an application, a resource server, a secret or a public key was last used. */
export interface LastUse {
  /** The ID of the application, secret or key, or the client ID of the resource server. */
  readonly id: string
  readonly atMs: number
}

export interface ActivityBatch {
  readonly lastUses: readonly LastUse[]
  readonly usage: readonly UsageEntry[]
  readonly requests: readonly TokenRequestEntry[]
  readonly rehashed: readonly RehashedSecret[]
  /** Events that are only counted. */
  readonly events: readonly AuditEntry[]
}

/** What anybody can cause any number of times: it is counted, and no act. */
export const countedEvents = [
  'administrator_rejected',
  'log_in_failed',
  'log_out_rejected',
  'request_rejected',
  'token_revoked',
] as const satisfies readonly AuditEventName[]

/** What stands for the events that are too many to be told apart. */
export function otherEvent({ event }: Pick<AuditEvent, 'event'>): AuditEvent {
  return { event, detail: 'other' }
}

export type CountedEvent = AuditEvent & { readonly event: (typeof countedEvents)[number] }

const hourMs = 3_600_000
/** How many counted events are told apart in an hour, and kept at all. */
const maxHourlyEvents = 1_000
const maxEvents = 10_000
/** How many addresses and minutes of a client's rejected requests are told apart in an hour. */
const maxHourlyRejections = 200

export type ActivityStorage = ReturnType<typeof activityStorage>

export function activityStorage(database: Database) {
  const { query } = database
  return {
    async record(batch: ActivityBatch): Promise<void> {
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
            .values(await withinLimit(transaction, requests))
            .onConflict((conflict) =>
              conflict.columns(['clientId', 'minuteMs', 'outcome', 'address']).doUpdateSet({
                count: sql`token_requests.count + excluded.count`,
                atMs: sql`excluded.at_ms`,
              }),
            )
            .execute()
        }
        await rehashSecrets({ ...database, query: transaction }, batch.rehashed)
        if (batch.events.length > 0) {
          await countEvents(transaction, batch.events)
        }
      })
    },
    /** When these were last used, by ID; IDs that were never used are missing. */
    async lastUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
      const rows = await query
        .selectFrom('lastUses')
        .selectAll()
        .where('id', 'in', anyOf(database, ids))
        .execute()
      return new Map(rows.map(({ id, atMs }) => [id, atMs]))
    },
    /** For what no longer exists, deletes the last uses recorded before that time; returns how many. */
    purgeLastUses: (beforeMs: number): Promise<number> =>
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
    /** Token requests by hour and outcome, the oldest hour first. */
    usage: (clientId: string, sinceMs: number): Promise<UsageEntry[]> =>
      query
        .selectFrom('usage')
        .selectAll()
        .where('clientId', '=', clientId)
        .where('hourMs', '>=', sinceMs)
        .orderBy('hourMs')
        .execute(),
    /** Deletes the usage of the hours that began before that time; returns how many entries. */
    purgeUsage: (beforeMs: number): Promise<number> =>
      countDeleted(query.deleteFrom('usage').where('hourMs', '<', beforeMs)),
    /** The latest token requests, the newest first. */
    requests: (clientId: string, limit: number): Promise<TokenRequestEntry[]> =>
      query
        .selectFrom('tokenRequests')
        .selectAll()
        .where('clientId', '=', clientId)
        .orderBy('minuteMs', 'desc')
        .orderBy('atMs', 'desc')
        .limit(limit)
        .execute(),
    /** Deletes counted events before that time, and the oldest ones if there are too many; returns how many. */
    purgeEvents: (beforeMs: number): Promise<number> =>
      countDeleted(
        query
          .deleteFrom('audit')
          .where('countedKey', 'is not', null)
          .where((row) =>
            row.or([
              row('atMs', '<', beforeMs),
              row(
                'id',
                'in',
                row
                  .selectFrom('audit')
                  .select('id')
                  .where('countedKey', 'is not', null)
                  .orderBy('atMs', 'desc')
                  .offset(maxEvents)
                  .limit(maxEvents),
              ),
            ]),
          ),
      ),
    /** Deletes the token requests before that time; returns how many entries. */
    purgeRequests: (beforeMs: number): Promise<number> =>
      countDeleted(query.deleteFrom('tokenRequests').where('atMs', '<', beforeMs)),
  }
}

/**
 * Counts events by the hour. Those that are new beyond the limit of the hour are counted together, so that unauthenticated
 * clients fill neither the disk nor the list.
 */
async function countEvents(query: Query, events: readonly AuditEntry[]): Promise<void> {
  const keyed = events.map((entry) => ({ entry, key: countedKey(entry) }))
  const latestMs = Math.max(...events.map(({ atMs }) => atMs))
  const { counted } = await query
    .selectFrom('audit')
    .select((row) => row.fn.countAll<number>().as('counted'))
    .where('countedKey', 'is not', null)
    .where('atMs', '>=', latestMs - (latestMs % hourMs))
    .executeTakeFirstOrThrow()
  const found = await query
    .selectFrom('audit')
    .select('countedKey')
    .where(
      'countedKey',
      'in',
      keyed.map(({ key }) => key),
    )
    .execute()
  const known = new Set(found.map(({ countedKey: key }) => key))
  let room = maxHourlyEvents - counted
  const rows = new Map<string, AuditEntry>()
  for (const { entry, key } of keyed) {
    const isKept = known.has(key) || room > 0
    if (!known.has(key)) room -= 1
    const { atMs, count } = entry
    const kept = isKept ? entry : { ...otherEvent(entry), atMs, count }
    const keptKey = isKept ? key : countedKey(kept)
    rows.set(keptKey, { ...kept, count: kept.count + (rows.get(keptKey)?.count ?? 0) })
  }
  // Every instance writes rows in the same order, so that two cannot block each other.
  const sorted = [...rows].sort(byText(([key]) => key))
  await query
    .insertInto('audit')
    .values(sorted.map(([key, entry]) => ({ ...toAuditRow(entry), countedKey: key })))
    .onConflict((conflict) =>
      conflict.column('countedKey').doUpdateSet({ count: sql`audit.count + excluded.count` }),
    )
    .execute()
}

function countedKey({ atMs, event, actorType, actor, clientId, address, detail }: AuditEntry): string {
  return digest(
    JSON.stringify([Math.floor(atMs / hourMs), event, actorType, actor, clientId, address, detail]),
  )
}

/** Requests of a client that were rejected, beyond the limit of the hour, as if they had come from one address. */
async function withinLimit(
  query: Query,
  requests: readonly TokenRequestEntry[],
): Promise<readonly TokenRequestEntry[]> {
  const rejected = requests.filter(({ outcome }) => outcome !== 'issued')
  if (rejected.length === 0) return requests
  const latestMs = Math.max(...rejected.map(({ minuteMs }) => minuteMs))
  const counts = await query
    .selectFrom('tokenRequests')
    .select((row) => ['clientId', row.fn.countAll<number>().as('rows')])
    .where('clientId', 'in', [...new Set(rejected.map(({ clientId }) => clientId))])
    .where('minuteMs', '>=', latestMs - (latestMs % hourMs))
    .where('outcome', '<>', 'issued')
    .groupBy('clientId')
    .execute()
  const used = new Map(counts.map(({ clientId, rows }) => [clientId, rows]))
  const kept = new Map<string, TokenRequestEntry>()
  for (const request of requests) {
    const { clientId, minuteMs, outcome } = request
    const rows = (used.get(clientId) ?? 0) + 1
    const isRejected = outcome !== 'issued'
    if (isRejected) used.set(clientId, rows)
    const address = isRejected && rows > maxHourlyRejections ? 'other' : request.address
    const key = JSON.stringify([clientId, minuteMs, outcome, address])
    kept.set(key, { ...request, address, count: request.count + (kept.get(key)?.count ?? 0) })
  }
  return [...kept.values()]
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
