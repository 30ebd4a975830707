import type { SigningKeyStorage, StoredSigningKey } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import { countDeleted, type Database } from './database.ts'

export function createSqlSigningKeys({ query }: Database): SigningKeyStorage {
  // Each JWT is signed with the key that is current now, for all instances: requests that arrive together share a read.
  const list = createBatcher<undefined, StoredSigningKey[]>(async (batch) => {
    const rows = await query.selectFrom('signingKeys').selectAll().orderBy('createdAtMs').execute()
    const keys = rows.map((row) => ({ ...row, expiresAtMs: row.expiresAtMs ?? undefined }))
    return batch.map(() => keys)
  })

  return {
    list: () => list(undefined),
    async add(keys) {
      await query
        .insertInto('signingKeys')
        .values(keys.map((key) => ({ ...key, expiresAtMs: key.expiresAtMs ?? null })))
        .execute()
    },
    async update(kid, changes) {
      await query.updateTable('signingKeys').set(changes).where('kid', '=', kid).execute()
    },
    async remove(kids) {
      if (kids.length === 0) return
      await query.deleteFrom('signingKeys').where('kid', 'in', kids).execute()
    },
    purge: (nowMs) => countDeleted(query.deleteFrom('signingKeys').where('expiresAtMs', '<=', nowMs)),
  }
}
