import type { ResourceServer, ResourceServerStorage } from '../storage.ts'
import type { PublicKey } from '../application.ts'
import { createBatcher } from './batcher.ts'
import { anyOf, inTransaction, type Database, type Query } from './database.ts'
import { secretColumns, withSecrets } from './sql-secrets.ts'

export function createSqlResourceServers(database: Database): ResourceServerStorage {
  const { query } = database

  const find = createBatcher<string, ResourceServer | undefined>(
    async (clientIds) => {
      const rows = await selectServers(query).where('clientId', 'in', anyOf(database, clientIds)).execute()
      const found = new Map(toServers(rows).map((server) => [server.clientId, server]))
      return clientIds.map((clientId) => found.get(clientId))
    },
    { concurrency: 2 },
  )

  return {
    find,
    list: async () => toServers(await selectServers(query).execute()),
    create: ({ secrets, keys, audiences, ...server }) =>
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
    async update(id, { keys, audiences, ...changes }, revision) {
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
    remove: (id) =>
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
