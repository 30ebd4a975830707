import { sql, type Selectable } from 'kysely'
import type {
  Application,
  ApplicationSettings,
  Approval,
  Deletion,
  Project,
  PublicKey,
  RegisteredClient,
  Review,
  StoredSecret,
} from '../../storage/application.ts'
import type { Schema } from '../../storage/schema.ts'
import { nameColumns, type NameColumns } from '../../storage/folded-name.ts'
import { createBatcher } from '../../storage/batcher.ts'
import { anyOf, firstOf, frequentStatement, inTransaction, type Database } from '../../storage/database.ts'
import { secretColumns, withSecrets } from '../credentials/storage.ts'
import { approvalOf, approvedFields } from './settings.ts'

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

  async function list(projectIds: readonly string[]): Promise<RegisteredClient[]> {
    const rows = await selectClients(database)
      .where('projectId', 'in', anyOf(database, projectIds))
      .orderBy('applications.createdAtMs')
      .orderBy('secrets.createdAtMs')
      .execute()
    return toClients(rows)
  }

  return {
    /** The application with that client ID, and everything else that issuing a token requires, in one read. */
    async findClient(clientId: string): Promise<RegisteredClient | undefined> {
      return toClients(await selectClients(database).where('clientId', '=', clientId).execute())[0]
    },
    list: (projectId: string): Promise<RegisteredClient[]> => list([projectId]),
    /** The applications of all these projects, in one read. */
    listOf: list,
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
    /** The longest lifetime of JWTs; 0 if no application gets any. */
    async longestJwtLifetimeSeconds(): Promise<number> {
      const { longest } = await query
        .selectFrom('applications')
        .select((row) => row.fn.max('lifetimeSeconds').as('longest'))
        .where('tokenFormat', '=', 'jwt')
        .executeTakeFirstOrThrow()
      return longest ?? 0
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

/** Finds what token requests are for: those that arrive together are looked for together. */
export function clientFinder(database: Database): ApplicationStorage['findClient'] {
  const selectByClientId = frequentStatement(database, (rows) =>
    selectClients(database).where('clientId', 'in', firstOf(rows)),
  )
  return createBatcher(async (clientIds: string[]) => {
    const rows = await selectByClientId(Array.from(new Set(clientIds), (clientId) => [clientId]))
    const found = new Map(toClients(rows).map((client) => [client.application.clientId, client]))
    return clientIds.map((clientId) => found.get(clientId))
  })
}

/** Named, because a statement of every token request is prepared. */
export const applicationColumns = [
  ...approvedFields.map((field) => `applications.${field}` as const),
  'applications.id',
  'applications.projectId',
  'applications.clientId',
  'applications.status',
  'applications.responseForm',
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

export function toApplication(
  row: Omit<Selectable<Schema['applications']>, keyof NameColumns | 'requestedAtMs'>,
): Application {
  const { products, scopes, audiences, requested, review, keys, claims, ...rest } = row
  const { deletesAtMs, deletedBy, ...columns } = rest
  const application = {
    ...columns,
    products: JSON.parse(products) as string[],
    scopes: JSON.parse(scopes) as string[],
    audiences: JSON.parse(audiences) as string[],
    keys: JSON.parse(keys) as PublicKey[],
    claims: JSON.parse(claims) as Application['claims'],
  }
  // What was requested before a field was added says nothing about it.
  const toApproval = (approval: Partial<Approval>): Approval => ({ ...approvalOf(application), ...approval })
  const { declined, ...reviewed } = JSON.parse(review ?? '{}') as Review
  return {
    ...application,
    ...(requested !== null && { requested: toApproval(JSON.parse(requested) as Partial<Approval>) }),
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
