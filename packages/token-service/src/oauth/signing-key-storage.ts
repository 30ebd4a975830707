import { createBatcher } from '../storage/batcher.ts'
import { countDeleted, type Database } from '../storage/database.ts'

/** A key that JWTs are signed with. */
export interface StoredSigningKey {
  /** The thumbprint of the public key (RFC 7638). */
  readonly kid: string
  readonly algorithm: string
  /** The public key as a JWK, in JSON. */
  readonly publicKey: string
  /** The private key as a JWK, encrypted (RFC 7516). */
  readonly encryptedKey: string
  /** `next` and `last` keys are only published. */
  readonly state: 'next' | 'current' | 'last'
  readonly createdAtMs: number
  /** Until when a `last` key is published. */
  readonly expiresAtMs?: number | undefined
}

export function signingKeyStorage({ query }: Database) {
  // Each JWT is signed with the key that is current now, for all instances: requests that arrive together share a read.
  const list = createBatcher<undefined, StoredSigningKey[]>(async (batch) => {
    const rows = await query.selectFrom('signingKeys').selectAll().orderBy('createdAtMs').execute()
    const keys = rows.map((row) => ({ ...row, expiresAtMs: row.expiresAtMs ?? undefined }))
    return batch.map(() => keys)
  })

  return {
    list: (): Promise<StoredSigningKey[]> => list(undefined),
    /** The longest lifetime of JWTs; 0 if no application gets any. */
    async longestJwtLifetimeSeconds(): Promise<number> {
      const { longest } = await query
        .selectFrom('applications')
        .select((row) => row.fn.max('lifetimeSeconds').as('longest'))
        .where('tokenFormat', '=', 'jwt')
        .executeTakeFirstOrThrow()
      return longest ?? 0
    },
    async add(keys: readonly StoredSigningKey[]): Promise<void> {
      await query
        .insertInto('signingKeys')
        .values(keys.map((key) => ({ ...key, expiresAtMs: key.expiresAtMs ?? null })))
        .execute()
    },
    async update(
      kid: string,
      changes: Partial<Pick<StoredSigningKey, 'state' | 'expiresAtMs' | 'encryptedKey'>>,
    ): Promise<void> {
      await query.updateTable('signingKeys').set(changes).where('kid', '=', kid).execute()
    },
    async remove(kids: readonly string[]): Promise<void> {
      if (kids.length === 0) return
      await query.deleteFrom('signingKeys').where('kid', 'in', kids).execute()
    },
    /** Deletes the `last` keys that expired by `nowMs`; returns how many. */
    purge: (nowMs: number): Promise<number> =>
      countDeleted(query.deleteFrom('signingKeys').where('expiresAtMs', '<=', nowMs)),
  }
}
