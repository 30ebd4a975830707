import { digest } from '../../runtime/digest.ts'
import type { AssertionStorage } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import type { Schema } from '../schema.ts'
import { countDeleted, type Database } from './database.ts'

export function createSqlAssertions({ query }: Database): AssertionStorage {
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
    use: (assertion, expiresAtMs) => use({ hash: digest(assertion), expiresAtMs }),
    purge: (nowMs) => countDeleted(query.deleteFrom('usedAssertions').where('expiresAtMs', '<=', nowMs)),
  }
}
