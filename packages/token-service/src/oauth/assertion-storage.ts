import { sql } from 'kysely'
import { digest } from '../runtime/digest.ts'
import { createBatcher } from '../storage/batcher.ts'
import type { Schema } from '../storage/schema.ts'
import { countDeleted, type Database, durably, frequentStatement } from '../storage/database.ts'

export type AssertionStorage = ReturnType<typeof assertionStorage>

/** Assertions that clients have authenticated with, until they expire: each is accepted once. */
export function assertionStorage(database: Database) {
  const { query } = database

  const insert = frequentStatement(database, (rows) =>
    query
      .insertInto('usedAssertions')
      .columns(['hash', 'expiresAtMs'])
      .expression(
        sql`select value->>0, cast(value->>1 as bigint) from ${rows} where ${durably(database)} order by 1`,
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning('hash'),
  )
  const use = createBatcher<Schema['usedAssertions'], boolean>(async (batch) => {
    // Every instance writes rows in the same order, so that two cannot block each other.
    const rows = new Map(batch.map(({ hash, expiresAtMs }) => [hash, expiresAtMs]))
    const inserted = await insert([...rows])
    // Of several that arrive together, the first one is accepted.
    const unused = new Set(inserted.map(({ hash }) => hash))
    return batch.map(({ hash }) => unused.delete(hash))
  })

  return {
    /** Resolves with `false` if it has already been used. */
    use: (assertion: string, expiresAtMs: number): Promise<boolean> =>
      use({ hash: digest(assertion), expiresAtMs }),
    purge: (nowMs: number): Promise<number> =>
      countDeleted(query.deleteFrom('usedAssertions').where('expiresAtMs', '<=', nowMs)),
  }
}
