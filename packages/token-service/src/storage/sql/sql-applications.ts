import type { RegisteredClient } from '../application.ts'
import type { ApplicationStorage } from '../storage.ts'
import { nameColumns } from '../folded-name.ts'
import { createBatcher } from './batcher.ts'
import { selectClients, toClients } from './client-rows.ts'
import { anyOf, firstOf, frequentStatement, inTransaction, type Database } from './database.ts'

export function createSqlApplications(database: Database): ApplicationStorage {
  const { query } = database

  const selectByClientId = frequentStatement(database, (rows) =>
    selectClients(query).where('clientId', 'in', firstOf(rows)),
  )
  const findClient = createBatcher<string, RegisteredClient | undefined>(async (clientIds) => {
    const rows = await selectByClientId(Array.from(new Set(clientIds), (clientId) => [clientId]))
    const found = new Map(toClients(rows).map((client) => [client.application.clientId, client]))
    return clientIds.map((clientId) => found.get(clientId))
  })

  async function list(projectIds: readonly string[]): Promise<RegisteredClient[]> {
    const rows = await selectClients(query)
      .where('projectId', 'in', anyOf(database, projectIds))
      .orderBy('applications.createdAtMs')
      .orderBy('secrets.createdAtMs')
      .execute()
    return toClients(rows)
  }

  return {
    findClient,
    list: (projectId) => list([projectId]),
    listOf: list,
    async page(limit, afterClientId = '') {
      const page = query
        .selectFrom('applications')
        .select('id')
        .where('clientId', '>', afterClientId)
        .orderBy('clientId')
        .limit(limit)
      const rows = await selectClients(query)
        .where('applications.id', 'in', page)
        .orderBy('clientId')
        .orderBy('secrets.createdAtMs')
        .execute()
      return toClients(rows)
    },
    async awaitingApproval() {
      const rows = await selectClients(query)
        .where((row) => row.or([row('status', '=', 'pending'), row('requested', 'is not', null)]))
        .orderBy('applications.createdAtMs')
        .execute()
      return toClients(rows)
    },
    async longestJwtLifetimeSeconds() {
      const { longest } = await query
        .selectFrom('applications')
        .select((row) => row.fn.max('lifetimeSeconds').as('longest'))
        .where('tokenFormat', '=', 'jwt')
        .executeTakeFirstOrThrow()
      return longest ?? 0
    },
    create: (application, secrets) =>
      inTransaction(query, async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('applications')
          .values({
            ...application,
            ...nameColumns(application.name),
            products: JSON.stringify(application.products),
            scopes: JSON.stringify(application.scopes),
            audiences: JSON.stringify(application.audiences),
            requested: application.requested ? JSON.stringify(application.requested) : null,
            review: application.review ? JSON.stringify(application.review) : null,
            keys: JSON.stringify(application.keys),
            claims: JSON.stringify(application.claims),
          })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirstOrThrow()
        if (numInsertedOrUpdatedRows === 0n) return false
        if (secrets.length > 0) await transaction.insertInto('secrets').values(secrets).execute()
        return true
      }),
    async update(id, { products, scopes, audiences, requested, review, keys, claims, ...changes }, revision) {
      const { numUpdatedRows } = await query
        .updateTable('applications')
        .set((row) => ({
          ...changes,
          ...(changes.name !== undefined && nameColumns(changes.name)),
          products: products && JSON.stringify(products),
          scopes: scopes && JSON.stringify(scopes),
          audiences: audiences && JSON.stringify(audiences),
          requested: requested && JSON.stringify(requested),
          review: review && JSON.stringify(review),
          keys: keys && JSON.stringify(keys),
          claims: claims && JSON.stringify(claims),
          revision: row('revision', '+', 1),
        }))
        .where('id', '=', id)
        .$if(revision !== undefined, (update) => update.where('revision', '=', revision!))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    async revokeTokens(id) {
      await query
        .updateTable('applications')
        .set((row) => ({ tokenGeneration: row('tokenGeneration', '+', 1) }))
        .where('id', '=', id)
        .execute()
    },
  }
}
