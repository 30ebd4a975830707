import { sql } from 'kysely'
import type { Clock } from '../runtime/clock.ts'
import type { Database } from '../storage/database.ts'

const toleranceMs = 5_000

/** Compares the clock of this instance with that of the database, which all instances share. */
export interface ClockWatch {
  check(database: Pick<Database, 'kind' | 'query'>): Promise<void>
  /** By how much the clock is ahead, negative if it is behind; set while it is more than five seconds. */
  readonly offsetMs: () => number | undefined
}

export function watchClock({
  clock,
  warn,
}: {
  readonly clock: Clock
  readonly warn: (message: string) => void
}): ClockWatch {
  let offsetMs: number | undefined
  return {
    offsetMs: () => offsetMs,
    async check({ kind, query }) {
      // The clock of an SQLite database is that of the process.
      if (kind === 'sqlite') return
      const beforeMs = clock.now()
      const { rows } = await sql<{ nowMs: number }>`
        select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now_ms`.execute(query)
      const afterMs = clock.now()
      const { nowMs } = rows[0]!
      // The database read its clock in between: however long the response took, at least this is certain.
      const least = Math.max(beforeMs - nowMs, 0) || Math.min(afterMs - nowMs, 0)
      offsetMs = Math.abs(least) > toleranceMs ? least : undefined
      if (offsetMs === undefined) return
      const seconds = `${Math.round(Math.abs(offsetMs) / 1000)} s ${offsetMs > 0 ? 'ahead of' : 'behind'}`
      warn(
        `The clock of this instance is ${seconds} that of the database. It is not ready until they agree: synchronize both machines with NTP.`,
      )
    },
  }
}
