import type { PurgeTimeStorage } from '../purge-time.ts'
import type { Database } from './database.ts'

export function createSqlPurgeTime({ query }: Database): PurgeTimeStorage {
  const text = (atMs: number) => JSON.stringify(['purge time', atMs])
  return {
    async find(keyring) {
      const row = await query.selectFrom('purgeTime').selectAll().where('id', '=', 1).executeTakeFirst()
      if (!row) return undefined
      const { atMs, keyId, signature: hash } = row
      return keyring.matching([{ keyId, hash }], text(atMs)).length > 0 ? atMs : undefined
    },
    async set(atMs, keyring) {
      const { keyId, hash: signature } = keyring.hash(text(atMs))
      const values = { atMs, keyId, signature }
      await query
        .insertInto('purgeTime')
        .values({ id: 1, ...values })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute()
    },
  }
}
