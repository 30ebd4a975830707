import type { StoredSecret } from '../application.ts'
import type { SecretStorage } from '../storage.ts'
import type { Schema } from '../schema.ts'
import type { Database } from './database.ts'

export function createSqlSecrets({ query }: Database): SecretStorage {
  return {
    async add(secret) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('secrets')
        .values(secret)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },
    async expire(id, expiresAtMs) {
      await query.updateTable('secrets').set({ expiresAtMs }).where('id', '=', id).execute()
    },
    async expireOthers({ id, ownerId }, expiresAtMs) {
      if (expiresAtMs === Infinity) return
      await query
        .updateTable('secrets')
        .set({ expiresAtMs })
        .where('ownerId', '=', ownerId)
        .where('id', '!=', id)
        .where((row) => row.or([row('expiresAtMs', 'is', null), row('expiresAtMs', '>', expiresAtMs)]))
        .execute()
    },
    async remove(id) {
      await query.deleteFrom('secrets').where('id', '=', id).execute()
    },
  }
}

/** The columns of a secret beside those of its owner. */
export const secretColumns = [
  'secrets.id as secretId',
  'secrets.keyId',
  'secrets.hash',
  'secrets.prefix',
  'secrets.createdAtMs as secretCreatedAtMs',
  'secrets.expiresAtMs',
] as const

type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null }

type SecretRow = Nullable<Pick<Schema['secrets'], 'keyId' | 'hash' | 'prefix' | 'expiresAtMs'>> & {
  readonly id: string
  readonly secretId: string | null
  readonly secretCreatedAtMs: number | null
}

/** One client of each owner, whose rows have a secret each, or none. */
export function withSecrets<Row extends SecretRow, Client>(
  rows: readonly Row[],
  toClient: (row: Omit<Row, Exclude<keyof SecretRow, 'id'>>, secrets: readonly StoredSecret[]) => Client,
): Client[] {
  const clients = new Map<string, { client: Client; secrets: StoredSecret[] }>()
  for (const { secretId, keyId, hash, prefix, secretCreatedAtMs, expiresAtMs, ...row } of rows) {
    const { id: ownerId } = row
    const secrets: StoredSecret[] = clients.get(ownerId)?.secrets ?? []
    if (!clients.has(ownerId)) clients.set(ownerId, { client: toClient(row, secrets), secrets })
    if (secretId === null) continue
    const secret = { id: secretId, ownerId, keyId, hash, prefix, createdAtMs: secretCreatedAtMs }
    secrets.push({ ...secret, expiresAtMs: expiresAtMs ?? undefined } as StoredSecret)
  }
  return Array.from(clients.values(), ({ client }) => client)
}
