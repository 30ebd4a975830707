import type { StoredSecret } from '../../storage/application.ts'
import type { Schema } from '../../storage/schema.ts'
import type { Database } from '../../storage/database.ts'
import { isValidAt } from '../../storage/hash-keys.ts'

/** The secrets of applications and resource servers. */
export function secretStorage({ query }: Database) {
  return {
    /** `false` if there is one with that ID. */
    async add(secret: StoredSecret): Promise<boolean> {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('secrets')
        .values(secret)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
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
