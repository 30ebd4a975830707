import type { StoredSecret } from '../../storage/application.ts'
import type { Database } from '../../storage/database.ts'
import { isValidAt } from '../../storage/hash-keys.ts'

/** The secrets of applications and resource servers. */
export function secretStorage({ query }: Database) {
  return {
    async add(secret: StoredSecret): Promise<void> {
      await query.insertInto('secrets').values(secret).execute()
    },
    async countValid(ownerId: string, nowMs: number): Promise<number> {
      const { count } = await query
        .selectFrom('secrets')
        .select((row) => row.fn.countAll<number>().as('count'))
        .where('ownerId', '=', ownerId)
        .where(isValidAt(nowMs))
        .executeTakeFirstOrThrow()
      return count
    },
    async expire(id: string, expiresAtMs: number): Promise<void> {
      await query.updateTable('secrets').set({ expiresAtMs }).where('id', '=', id).execute()
    },
    /** Replaces its hash, also of one that has expired. */
    async rehash(id: string, hashed: Pick<StoredSecret, 'keyId' | 'hash'>): Promise<void> {
      await query.updateTable('secrets').set(hashed).where('id', '=', id).execute()
    },
    /** Sets when all other secrets of its owner expire, unless they expire earlier. */
    async expireOthers({ id, ownerId }: StoredSecret, expiresAtMs: number): Promise<void> {
      if (expiresAtMs === Infinity) return
      await query
        .updateTable('secrets')
        .set({ expiresAtMs })
        .where('ownerId', '=', ownerId)
        .where('id', '!=', id)
        .where(isValidAt(expiresAtMs))
        .execute()
    },
    async remove(id: string): Promise<void> {
      await query.deleteFrom('secrets').where('id', '=', id).execute()
    },
  }
}
