import type { Selectable } from 'kysely'
import type { ResourceServer } from '../resource-server.ts'
import type { ResourceServerStorage } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import { anyOf, type Database, type Schema } from './database.ts'

export function createSqlResourceServers(database: Database): ResourceServerStorage {
  const { query } = database

  const find = createBatcher<string, ResourceServer | undefined>(
    async (clientIds) => {
      const rows = await query
        .selectFrom('resourceServers')
        .selectAll()
        .where('clientId', 'in', anyOf(database, clientIds))
        .execute()
      const found = new Map(rows.map((row) => [row.clientId, toResourceServer(row)]))
      return clientIds.map((clientId) => found.get(clientId))
    },
    { concurrency: 2 },
  )

  return {
    find,
    async list() {
      const rows = await query.selectFrom('resourceServers').selectAll().orderBy('createdAtMs').execute()
      return rows.map(toResourceServer)
    },
    async create({ secrets, keys, ...server }) {
      const { numInsertedOrUpdatedRows } = await query
        .insertInto('resourceServers')
        .values({ ...server, secrets: JSON.stringify(secrets), keys: JSON.stringify(keys) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirstOrThrow()
      return numInsertedOrUpdatedRows === 1n
    },
    async update(clientId, { secrets, keys, ...changes }, revision) {
      const { numUpdatedRows } = await query
        .updateTable('resourceServers')
        .set({
          ...changes,
          secrets: secrets && JSON.stringify(secrets),
          keys: keys && JSON.stringify(keys),
          revision: revision + 1,
        })
        .where('clientId', '=', clientId)
        .where('revision', '=', revision)
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async remove(clientId) {
      await query.deleteFrom('resourceServers').where('clientId', '=', clientId).execute()
    },
  }
}

function toResourceServer(row: Selectable<Schema['resourceServers']>): ResourceServer {
  return {
    ...row,
    secrets: JSON.parse(row.secrets) as ResourceServer['secrets'],
    keys: JSON.parse(row.keys) as ResourceServer['keys'],
  }
}
