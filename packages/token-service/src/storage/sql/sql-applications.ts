import type { RegisteredClient } from '../../applications/application.ts'
import type { ApplicationStorage } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import { selectClients, toClients } from './client-rows.ts'
import { anyOf, type Database } from './database.ts'

export function createSqlApplications(database: Database): ApplicationStorage {
  const { query } = database

  const findClient = createBatcher<string, RegisteredClient | undefined>(
    async (clientIds) => {
      const rows = await selectClients(query).where('clientId', 'in', anyOf(database, clientIds)).execute()
      const found = new Map(toClients(rows).map((client) => [client.application.clientId, client]))
      return clientIds.map((clientId) => found.get(clientId))
    },
    { concurrency: 2 },
  )

  return {
    findClient,
    async list(projectId) {
      const rows = await selectClients(query)
        .where('projectId', '=', projectId)
        .orderBy('applications.createdAtMs')
        .orderBy('secrets.createdAtMs')
        .execute()
      return toClients(rows)
    },
    create: (application, secrets) =>
      query.transaction().execute(async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('applications')
          .values({ ...application, products: JSON.stringify(application.products) })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirstOrThrow()
        if (numInsertedOrUpdatedRows === 0n) return false
        if (secrets.length > 0) await transaction.insertInto('secrets').values(secrets).execute()
        return true
      }),
    async update(id, { products, ...changes }) {
      await query
        .updateTable('applications')
        .set({ ...changes, products: products && JSON.stringify(products) })
        .where('id', '=', id)
        .execute()
    },
    async addSecret(secret) {
      await query.insertInto('secrets').values(secret).execute()
    },
    async expireSecret(id, expiresAtMs) {
      await query
        .updateTable('secrets')
        .set({ expiresAtMs: expiresAtMs ?? null })
        .where('id', '=', id)
        .execute()
    },
    async removeSecret(id) {
      await query.deleteFrom('secrets').where('id', '=', id).execute()
    },
    async keyIds() {
      const rows = await query.selectFrom('secrets').select('keyId').distinct().execute()
      return rows.map(({ keyId }) => keyId)
    },
  }
}
