import { digest } from '../runtime/digest.ts'
import { createBatcher } from '../storage/batcher.ts'
import type { Schema } from '../storage/schema.ts'
import { countDeleted, type Database } from '../storage/database.ts'

export type AssertionStorage = ReturnType<typeof assertionStorage>

/** Assertions that clients have authenticated with, until they expire: each is accepted once. */
export function assertionStorage({ query }: Database) {
  const use = createBatcher<Schema['usedAssertions'], boolean>(async (batch) => {
    // Every instance writes rows in the same order, so that two cannot block each other.
    const rows = [...new Map(batch.map((row) => [row.hash, row])).values()]
    const inserted = await query
      .insertInto('usedAssertions')
      .values(rows.sort((a, b) => (a.hash < b.hash ? -1 : 1)))
      .onConflict((conflict) => conflict.doNothing())
      .returning('hash')
      .execute()
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
