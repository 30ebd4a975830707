import type { Clock } from '../runtime/clock.ts'
import { networks } from '../runtime/ip-addresses.ts'
import { ProtocolError } from './protocol-error.ts'
import { sql } from 'kysely'
import { digest } from '../runtime/digest.ts'
import { createBatcher } from '../storage/batcher.ts'
import type { Schema } from '../storage/schema.ts'
import { anyOf, countDeleted, type Database } from '../storage/database.ts'

export interface FailureLimit {
  /** How many attempts from an address may fail before further failures are reported as `too_many_failures`. */
  readonly attempts: number
  readonly windowSeconds: number
}

/**
 * Limits failed attempts by network (the IPv4 address, the IPv6 /64, and the /48 above it) and client; never by client alone,
 * because then anybody could lock it out.
 * A correct secret is never rejected: several clients may share one address.
 */
export interface FailedAttemptLimit {
  /** Counts a failed attempt, concurrent ones included. Throws `too_many_failures` beyond the limit. */
  failed(address: string, clientId: string): Promise<void>
  /**
   * For checks that are too expensive to repeat: throws `too_many_failures` while the limit is exceeded, and otherwise returns how
   * many attempts have failed.
   */
  check(address: string, clientId: string): Promise<number>
}

export function createFailedAttemptLimit(
  storage: FailureStorage,
  clock: Clock,
  limit: FailureLimit,
): FailedAttemptLimit {
  /** Each key with how often it may fail: the larger network twice as often. */
  const limitsOf = (address: string, clientId: string) =>
    networks(address).map((network, at) => ({
      key: `${network} ${clientId}`,
      attempts: limit.attempts * (at + 1),
    }))
  const tooMany = ({ resetsAtMs }: FailureCount, nowMs: number) =>
    new ProtocolError('too_many_failures', { retryAfterSeconds: Math.ceil((resetsAtMs - nowMs) / 1000) })
  return {
    async failed(address, clientId) {
      const nowMs = clock.now()
      const counts = await Promise.all(
        limitsOf(address, clientId).map(async ({ key, attempts }) => {
          const failures = await storage.add(key, nowMs, limit.windowSeconds * 1000)
          return { failures, isTooMany: failures.count > attempts }
        }),
      )
      const exceeded = counts.find(({ isTooMany }) => isTooMany)
      if (exceeded) throw tooMany(exceeded.failures, nowMs)
    },
    async check(address, clientId) {
      const nowMs = clock.now()
      let most = 0
      for (const { key, attempts } of limitsOf(address, clientId)) {
        const failures = await storage.find(key, nowMs)
        if (failures && failures.count >= attempts) throw tooMany(failures, nowMs)
        most = Math.max(most, failures?.count ?? 0)
      }
      return most
    },
  }
}

export interface FailureCount {
  readonly count: number
  readonly resetsAtMs: number
}

interface Failure {
  readonly key: string
  readonly nowMs: number
  readonly windowMs: number
}

/** Of many networks at once, those that reset first are forgotten: unauthenticated clients must not fill the disk. */
const maxFailures = 20_000

type FailureStorage = ReturnType<typeof failureStorage>

/**
 * Failed attempts by key, counted from the first one until the window ends. Keys are stored as digests: what clients send as their ID must not be
 * readable in the database.
 */
export function failureStorage(database: Database) {
  const { query } = database
  let added = 0

  const find = createBatcher<string, Schema['failures'] | undefined>(
    async (keys) => {
      const rows = await query
        .selectFrom('failures')
        .selectAll()
        .where('key', 'in', anyOf(database, keys))
        .execute()
      const found = new Map(rows.map((row) => [row.key, row]))
      return keys.map((key) => found.get(key))
    },
    { concurrency: 2 },
  )

  const add = createBatcher<Failure, FailureCount>(async (batch) => {
    const rows = new Map<string, Schema['failures']>()
    for (const { key, nowMs, windowMs } of batch) {
      rows.set(key, { key, count: (rows.get(key)?.count ?? 0) + 1, resetsAtMs: nowMs + windowMs })
    }
    const nowMs = Math.max(...batch.map((failure) => failure.nowMs))
    const isOver = sql`failures.resets_at_ms <= ${nowMs}`
    const counted = await query
      .insertInto('failures')
      // Every instance writes rows in the same order, so that two cannot block each other.
      .values([...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1)))
      .onConflict((conflict) =>
        conflict.column('key').doUpdateSet({
          count: sql`case when ${isOver} then excluded.count else failures.count + excluded.count end`,
          resetsAtMs: sql`case when ${isOver} then excluded.resets_at_ms else failures.resets_at_ms end`,
        }),
      )
      .returningAll()
      .execute()
    added += rows.size
    if (added >= maxFailures / 10) {
      added = 0
      await query
        .deleteFrom('failures')
        .where(
          'resetsAtMs',
          '<=',
          query
            .selectFrom('failures')
            .select('resetsAtMs')
            .orderBy('resetsAtMs', 'desc')
            .offset(maxFailures)
            .limit(1),
        )
        .execute()
    }
    // Concurrent failures with the same key are counted one after the other.
    const next = new Map(
      counted.map(({ key, count, resetsAtMs }) => [key, { count: count - rows.get(key)!.count, resetsAtMs }]),
    )
    return batch.map(({ key }) => {
      const { count, resetsAtMs } = next.get(key)!
      next.set(key, { count: count + 1, resetsAtMs })
      return { count: count + 1, resetsAtMs }
    })
  })

  return {
    async find(key: string, nowMs: number): Promise<FailureCount | undefined> {
      const failure = await find(digest(key))
      return failure && failure.resetsAtMs > nowMs ? failure : undefined
    },
    /** Adds one; returns the count that includes it, so that each of several concurrent failures gets its own count. */
    add: (key: string, nowMs: number, windowMs: number): Promise<FailureCount> =>
      add({ key: digest(key), nowMs, windowMs }),
    purge: (nowMs: number): Promise<number> =>
      countDeleted(query.deleteFrom('failures').where('resetsAtMs', '<=', nowMs)),
    async clear(): Promise<void> {
      await query.deleteFrom('failures').execute()
    },
  }
}
