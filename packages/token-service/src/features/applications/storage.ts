import type {
  Application,
  ApplicationSettings,
  Approval,
  Deletion,
  RegisteredClient,
  Review,
  StoredSecret,
} from '../../storage/application.ts'
import { anyOf, inTransaction, type Database } from '../../storage/database.ts'
import { nameColumns } from '../../storage/folded-name.ts'
import { selectClients, toClients } from '../../storage/registered-client.ts'

export type ApplicationChanges = Partial<
  Approval & ApplicationSettings & Pick<Application, 'projectId' | 'status' | 'keys' | 'claims'>
> &
  Deletion & {
    /** `null` removes the request. */
    readonly requested?: Approval | null | undefined
    /** `null` removes it. */
    readonly review?: Review | null | undefined
  }

export type ApplicationStorage = ReturnType<typeof applicationStorage>

export function applicationStorage(database: Database) {
  const { query } = database

  return {
    /** The application with that ID. */
    async find(id: string): Promise<RegisteredClient | undefined> {
      const rows = await selectClients(database)
        .where('applications.id', '=', id)
        .orderBy('secrets.createdAtMs')
        .execute()
      return toClients(rows)[0]
    },
    /** The application with that client ID, and everything else that issuing a token requires, in one read. */
    async findClient(clientId: string): Promise<RegisteredClient | undefined> {
      return toClients(await selectClients(database).where('clientId', '=', clientId).execute())[0]
    },
    /** All applications of a project, for acts that change them. */
    async list(projectId: string): Promise<RegisteredClient[]> {
      const rows = await selectClients(database)
        .where('projectId', '=', projectId)
        .orderBy('applications.createdAtMs')
        .orderBy('secrets.createdAtMs')
        .execute()
      return toClients(rows)
    },
    /** The ID of the oldest application of these projects that has got a token, or else of the oldest one. */
    async firstOf(projectIds: readonly string[]): Promise<string | undefined> {
      const found = await query
        .selectFrom('applications')
        .leftJoin('lastUses', 'lastUses.id', 'applications.id')
        .select('applications.id')
        .where('projectId', 'in', anyOf(database, projectIds))
        .where('deletesAtMs', 'is', null)
        .orderBy((row) => row.case().when('lastUses.id', 'is', null).then(1).else(0).end())
        .orderBy('createdAtMs')
        .orderBy('applications.id')
        .limit(1)
        .executeTakeFirst()
      return found?.id
    },
    /** Every application, by client ID, in pages: those after the given client ID. */
    async page(limit: number, afterClientId: string = ''): Promise<RegisteredClient[]> {
      const page = query
        .selectFrom('applications')
        .select('id')
        .where('clientId', '>', afterClientId)
        .orderBy('clientId')
        .limit(limit)
      const rows = await selectClients(database)
        .where('applications.id', 'in', page)
        .orderBy('clientId')
        .orderBy('secrets.createdAtMs')
        .execute()
      return toClients(rows)
    },
    /** Atomic; `false` if the client ID or the application's ID is taken. */
    create: (application: Application, secrets: readonly StoredSecret[]): Promise<boolean> =>
      inTransaction(query, async (transaction) => {
        const { numInsertedOrUpdatedRows } = await transaction
          .insertInto('applications')
          .values({
            ...application,
            ...nameColumns(application.name),
            requestedAtMs: application.review?.requestedAtMs ?? application.createdAtMs,
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
    /** Does nothing and resolves with `false` if the application is no longer at the given revision. */
    async update(
      id: string,
      { products, scopes, audiences, requested, review, keys, claims, ...changes }: ApplicationChanges,
      revision?: number,
    ): Promise<boolean> {
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
          ...(review !== undefined && { requestedAtMs: review?.requestedAtMs ?? row.ref('createdAtMs') }),
          keys: keys && JSON.stringify(keys),
          claims: claims && JSON.stringify(claims),
          revision: row('revision', '+', 1),
        }))
        .where('id', '=', id)
        .$if(revision !== undefined, (update) => update.where('revision', '=', revision!))
        .executeTakeFirstOrThrow()
      return numUpdatedRows > 0n
    },
    /** Revokes every token that was issued until now. */
    async revokeTokens(id: string): Promise<void> {
      await query
        .updateTable('applications')
        .set((row) => ({ tokenGeneration: row('tokenGeneration', '+', 1) }))
        .where('id', '=', id)
        .execute()
    },
  }
}
