import type { PublicKey, StoredSecret } from '../../storage/application.ts'
import { createBatcher } from '../../storage/batcher.ts'
import { anyOf, inTransaction, type Database, type Query } from '../../storage/database.ts'
import { secretColumns, withSecrets } from '../../storage/registered-client.ts'

/** An API that accepts tokens, and may introspect them (RFC 7662, section 2.1). */
export interface ResourceServer {
  readonly id: string
  readonly clientId: string
  readonly name: string
  /** Tokens for other APIs are inactive for it; `undefined`: it may introspect every token. */
  readonly audiences?: readonly string[] | undefined
  readonly createdAtMs: number
  readonly secrets: readonly StoredSecret[]
  readonly keys: readonly PublicKey[]
  /** Counts the changes. */
  readonly revision: number
}

export type ResourceServerStorage = ReturnType<typeof resourceServerStorage>

/** APIs that may introspect tokens. */
export function resourceServerStorage(database: Database) {
  const { query } = database

  const find = createBatcher<string, ResourceServer | undefined>(
    async (clientIds) => {
      const rows = await selectServers(query).where('clientId', 'in', anyOf(database, clientIds)).execute()
      const found = new Map(toServers(rows).map((server) => [server.clientId, server]))
      return clientIds.map((clientId) => found.get(clientId))
    },
    { concurrency: 2, ownerOf: (clientId) => clientId },
  )

  return {
    find,
    /** The oldest first. */
    list: async (): Promise<ResourceServer[]> => toServers(await selectServers(query).execute()),
    /** Atomic; `false` if the client ID or the ID is taken. */
    create: ({ secrets, keys, audiences, ...server }: ResourceServer): Promise<boolean> =>
      inTransaction(query, async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('resourceServers')
          .values({
            ...server,
            keys: JSON.stringify(keys),
            audiences: audiences ? JSON.stringify(audiences) : null,
          })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirstOrThrow()
        if (numInsertedOrUpdatedRows === 0n) return false
        if (secrets.length > 0) await transaction.insertInto('secrets').values(secrets).execute()
        return true
      }),
    /** Does nothing and resolves with `false` if it is no longer at the given revision. */
    async update(
      id: string,
      {
        keys,
        audiences,
        ...changes
      }: Partial<Pick<ResourceServer, 'name' | 'keys'>> & {
        readonly audiences?: readonly string[] | null | undefined
      },
      revision?: number,
    ): Promise<boolean> {
      const { numUpdatedRows } = await query
        .updateTable('resourceServers')
        .set((row) => ({
          ...changes,
          keys: keys && JSON.stringify(keys),
          audiences: audiences && JSON.stringify(audiences),
          revision: row('revision', '+', 1),
        }))
        .where('id', '=', id)
        .$if(revision !== undefined, (update) => update.where('revision', '=', revision!))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    remove: (id: string): Promise<void> =>
      inTransaction(query, async (transaction) => {
        await transaction.deleteFrom('secrets').where('ownerId', '=', id).execute()
        await transaction.deleteFrom('resourceServers').where('id', '=', id).execute()
      }),
  }
}

function selectServers(query: Query) {
  return query
    .selectFrom('resourceServers')
    .leftJoin('secrets', 'secrets.ownerId', 'resourceServers.id')
    .selectAll('resourceServers')
    .select(secretColumns)
    .orderBy('resourceServers.createdAtMs')
    .orderBy('secrets.createdAtMs')
}

type ServerRow = Awaited<ReturnType<ReturnType<typeof selectServers>['execute']>>[number]

function toServers(rows: readonly ServerRow[]): ResourceServer[] {
  return withSecrets(rows, ({ keys, audiences, ...server }, secrets) => ({
    ...server,
    ...(audiences !== null && { audiences: JSON.parse(audiences) as string[] }),
    secrets,
    keys: JSON.parse(keys) as PublicKey[],
  }))
}
