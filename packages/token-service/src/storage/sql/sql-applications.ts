import { sql, type Selectable } from 'kysely'
import type { Application, Approval, Project, PublicKey, RegisteredClient, Review } from '../application.ts'
import type { Schema } from '../schema.ts'
import type { ApplicationStorage } from '../storage.ts'
import { nameColumns, type NameColumns } from '../folded-name.ts'
import { createBatcher } from './batcher.ts'
import { anyOf, firstOf, frequentStatement, inTransaction, type Database } from './database.ts'
import { secretColumns, withSecrets } from './sql-secrets.ts'

export function createSqlApplications(database: Database): ApplicationStorage {
  const { query } = database

  const selectByClientId = frequentStatement(database, (rows) =>
    selectClients(database).where('clientId', 'in', firstOf(rows)),
  )
  const findClient = createBatcher<string, RegisteredClient | undefined>(async (clientIds) => {
    const rows = await selectByClientId(Array.from(new Set(clientIds), (clientId) => [clientId]))
    const found = new Map(toClients(rows).map((client) => [client.application.clientId, client]))
    return clientIds.map((clientId) => found.get(clientId))
  })

  async function list(projectIds: readonly string[]): Promise<RegisteredClient[]> {
    const rows = await selectClients(database)
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
      const rows = await selectClients(database)
        .where('applications.id', 'in', page)
        .orderBy('clientId')
        .orderBy('secrets.createdAtMs')
        .execute()
      return toClients(rows)
    },
    async awaitingApproval() {
      const rows = await selectClients(database)
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

/** The application with that client ID, once: where many are looked for at a time, the storage reads them together. */
export async function findClient(
  database: Pick<Database, 'kind' | 'query'>,
  clientId: string,
): Promise<RegisteredClient | undefined> {
  return toClients(await selectClients(database).where('clientId', '=', clientId).execute())[0]
}

export const applicationColumns = [
  'applications.id',
  'applications.projectId',
  'applications.name',
  'applications.clientId',
  'applications.status',
  'applications.products',
  'applications.scopes',
  'applications.level',
  'applications.organizationName',
  'applications.developerEmail',
  'applications.responseForm',
  'applications.lifetimeSeconds',
  'applications.tokenFormat',
  'applications.audiences',
  'applications.dpop',
  'applications.createdAtMs',
  'applications.requested',
  'applications.review',
  'applications.keys',
  'applications.claims',
  'applications.revision',
  'applications.tokenGeneration',
  'applications.deletesAtMs',
  'applications.deletedBy',
] as const

/** One row for each secret of an application, or one row without a secret. */
export function selectClients({ kind, query }: Pick<Database, 'kind' | 'query'>) {
  const [listed, asObject] =
    kind === 'sqlite'
      ? [sql`select value from json_each(applications.scopes)`, sql`json_group_object(name, audience)`]
      : [
          sql`select json_array_elements_text(applications.scopes::json)`,
          sql`json_object_agg(name, audience)::text`,
        ]
  // Most applications have no scopes, and each token request reads one.
  const scopeAudiences = sql<string | null>`case when applications.scopes <> '[]' then (
    select ${asObject} from scopes where audience is not null and name in (${listed})) end`
  return query
    .selectFrom('applications')
    .innerJoin('projects', 'projects.id', 'applications.projectId')
    .leftJoin('secrets', 'secrets.ownerId', 'applications.id')
    .select(applicationColumns)
    .select([
      'projects.name as projectName',
      'projects.organizationName as projectOrganizationName',
      'projects.developerEmail as projectDeveloperEmail',
      'projects.createdAtMs as projectCreatedAtMs',
      'projects.deletesAtMs as projectDeletesAtMs',
      'projects.deletedBy as projectDeletedBy',
      scopeAudiences.as('scopeAudiences'),
      ...secretColumns,
    ])
}

const none: ReadonlyMap<string, string> = new Map()
const toMap = (json: string) => new Map(Object.entries(JSON.parse(json) as Record<string, string>))

type ClientRow = Awaited<ReturnType<ReturnType<typeof selectClients>['execute']>>[number]

export function toClients(rows: readonly ClientRow[]): RegisteredClient[] {
  return withSecrets(rows, (row, secrets) => {
    const {
      projectName,
      projectOrganizationName,
      projectDeveloperEmail,
      projectCreatedAtMs,
      projectDeletesAtMs,
      projectDeletedBy,
      scopeAudiences,
      ...own
    } = row
    const project = {
      id: row.projectId,
      name: projectName,
      organizationName: projectOrganizationName,
      developerEmail: projectDeveloperEmail,
      createdAtMs: projectCreatedAtMs,
      deletesAtMs: projectDeletesAtMs,
      deletedBy: projectDeletedBy,
    }
    return {
      application: toApplication(own),
      project: toProject(project),
      secrets,
      scopeAudiences: scopeAudiences === null ? none : toMap(scopeAudiences),
    }
  })
}

type StoredApproval = Omit<Approval, 'dpop'> & Partial<Pick<Approval, 'dpop'>>

export function toApplication(row: Omit<Selectable<Schema['applications']>, keyof NameColumns>): Application {
  const { products, scopes, audiences, requested, review, keys, claims, ...rest } = row
  const { deletesAtMs, deletedBy, ...application } = rest
  // What was requested before tokens could be bound says nothing about that.
  const toApproval = (approval: StoredApproval): Approval => ({ dpop: application.dpop, ...approval })
  const { declined, ...reviewed } = JSON.parse(review ?? '{}') as Review
  return {
    ...application,
    products: JSON.parse(products) as string[],
    scopes: JSON.parse(scopes) as string[],
    audiences: JSON.parse(audiences) as string[],
    keys: JSON.parse(keys) as PublicKey[],
    claims: JSON.parse(claims) as Application['claims'],
    ...(requested !== null && { requested: toApproval(JSON.parse(requested) as StoredApproval) }),
    ...(review !== null && {
      review: {
        ...reviewed,
        ...(declined && {
          declined: {
            ...declined,
            ...(declined.requested && { requested: toApproval(declined.requested) }),
          },
        }),
      },
    }),
    ...deletionOf({ deletesAtMs, deletedBy }),
  }
}

export function toProject(row: Omit<Selectable<Schema['projects']>, 'nameKey' | keyof NameColumns>): Project {
  const { deletesAtMs, deletedBy, id, name, organizationName, developerEmail, createdAtMs } = row
  const project = { id, name, organizationName, developerEmail, createdAtMs }
  return { ...project, ...deletionOf({ deletesAtMs, deletedBy }) }
}

function deletionOf({ deletesAtMs, deletedBy }: Pick<Schema['projects'], 'deletesAtMs' | 'deletedBy'>) {
  return { ...(deletesAtMs !== null && { deletesAtMs }), ...(deletedBy !== null && { deletedBy }) }
}
