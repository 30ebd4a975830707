import type { Selectable } from 'kysely'
import type { Passkey, PasskeyStorage } from '../developer-storage.ts'
import { countDeleted, inTransaction, type Database, type Schema } from './database.ts'
import { toDeveloper } from './sql-developers.ts'

export function createSqlPasskeys({ query }: Database): PasskeyStorage {
  return {
    async list(developerId) {
      const rows = await query
        .selectFrom('passkeys')
        .selectAll()
        .where('developerId', '=', developerId)
        .orderBy('createdAtMs')
        .orderBy('id')
        .execute()
      return rows.map(toPasskey)
    },
    async find(id) {
      const row = await query.selectFrom('passkeys').selectAll().where('id', '=', id).executeTakeFirst()
      if (!row) return undefined
      const owner = query.selectFrom('developers').selectAll().where('id', '=', row.developerId)
      const developer = await owner.executeTakeFirst()
      return developer && { passkey: toPasskey(row), developer: toDeveloper(developer) }
    },
    async add(passkey) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('passkeys')
        .values({ ...passkey, lastUsedAtMs: passkey.lastUsedAtMs ?? null })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },
    async use(id, counter, nowMs) {
      const { numUpdatedRows } = await query
        .updateTable('passkeys')
        .set({ counter, lastUsedAtMs: nowMs })
        .where('id', '=', id)
        // In the statement itself: concurrent log-ins are compared with each other, too.
        .where((row) => (counter === 0 ? row('counter', '=', 0) : row('counter', '<', counter)))
        .executeTakeFirstOrThrow()
      return numUpdatedRows === 1n
    },
    async remove(developerId, id) {
      const removed = query.deleteFrom('passkeys').where('id', '=', id).where('developerId', '=', developerId)
      return (await countDeleted(removed)) === 1
    },
    removeAll: (developerId) =>
      inTransaction(query, async (transaction) => {
        await transaction.deleteFrom('recoveryCodes').where('developerId', '=', developerId).execute()
        const on = transaction.updateTable('developers').set({ passkeyOnly: 0 })
        await on.where('id', '=', developerId).execute()
        return countDeleted(transaction.deleteFrom('passkeys').where('developerId', '=', developerId))
      }),
    async recoveryCodes(developerId) {
      return query
        .selectFrom('recoveryCodes')
        .select(['keyId', 'hash'])
        .where('developerId', '=', developerId)
        .execute()
    },
    setRecoveryCodes: (developerId, codes) =>
      inTransaction(query, async (transaction) => {
        await transaction.deleteFrom('recoveryCodes').where('developerId', '=', developerId).execute()
        const rows = codes.map((code) => ({ ...code, developerId }))
        await transaction.insertInto('recoveryCodes').values(rows).execute()
      }),
    async useRecoveryCode(developerId, hash) {
      const used = query.deleteFrom('recoveryCodes').where('hash', '=', hash)
      return (await countDeleted(used.where('developerId', '=', developerId))) === 1
    },
  }
}

function toPasskey({ lastUsedAtMs, ...row }: Selectable<Schema['passkeys']>): Passkey {
  return { ...row, ...(lastUsedAtMs !== null && { lastUsedAtMs }) }
}
