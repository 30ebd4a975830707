import type { Keyring } from '../runtime/keyring.ts'
import type { Database } from './database.ts'

/** When something was last deleted because of its age, signed: nobody without the key can set it to a later time. */
export function purgeTimeStorage({ query }: Database) {
  const text = (atMs: number) => JSON.stringify(['purge time', atMs])
  return {
    /** `undefined` without a valid signature. */
    async find(keyring: Keyring): Promise<number | undefined> {
      const row = await query.selectFrom('purgeTime').selectAll().where('id', '=', 1).executeTakeFirst()
      if (!row) return undefined
      const { atMs, keyId, signature: hash } = row
      return keyring.matching([{ keyId, hash }], text(atMs)).length > 0 ? atMs : undefined
    },
    async set(atMs: number, keyring: Keyring): Promise<void> {
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
