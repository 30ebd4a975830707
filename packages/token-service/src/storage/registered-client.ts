import { sql, type Selectable } from 'kysely'
import {
  approvalOf,
  approvedFields,
  type Application,
  type Approval,
  type Project,
  type PublicKey,
  type RegisteredClient,
  type Review,
  type StoredSecret,
} from './application.ts'
import { createBatcher } from './batcher.ts'
import { firstOf, frequentStatement, type Database } from './database.ts'
import type { NameColumns } from './folded-name.ts'
import type { Schema } from './schema.ts'

/** The application with a client ID, and everything else that issuing a token requires. */
export type FindClient = (clientId: string) => Promise<RegisteredClient | undefined>

/** Finds what token requests are for: those that arrive together are looked for together. */
export function clientFinder(database: Database): FindClient {
  const selectByClientId = frequentStatement(database, (rows) =>
    selectClients(database).where('clientId', 'in', firstOf(rows)),
  )
  return createBatcher(
    async (clientIds: string[]) => {
      const rows = await selectByClientId(Array.from(new Set(clientIds), (clientId) => [clientId]))
      const found = new Map(toClients(rows).map((client) => [client.application.clientId, client]))
      return clientIds.map((clientId) => found.get(clientId))
    },
    // The first thing that a token request needs: one that will not get its token in time costs nothing more. Introspection, on which every
    // request to an API depends, is given up last.
    { ownerOf: (clientId) => clientId, shedAfterMs: 500 },
  )
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

/** The APIs that the scopes of an application belong to, as a JSON object. */
export function selectScopeAudiences({ kind }: Pick<Database, 'kind'>) {
  const [listed, asObject] =
    kind === 'sqlite'
      ? [sql`select value from json_each(applications.scopes)`, sql`json_group_object(name, audience)`]
      : [
          sql`select json_array_elements_text(applications.scopes::json)`,
          sql`json_object_agg(name, audience)::text`,
        ]
  // Most applications have no scopes, and each token request reads one.
  return sql<string | null>`case when applications.scopes <> '[]' then (
    select ${asObject} from scopes where audience is not null and name in (${listed})) end`.as(
    'scopeAudiences',
  )
}

/** One row for each secret of an application, or one row without a secret. */
export function selectClients(database: Pick<Database, 'kind' | 'query'>) {
  const { query } = database
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
      selectScopeAudiences(database),
      ...secretColumns,
    ])
}

const none: ReadonlyMap<string, string> = new Map()

export function toScopeAudiences(json: string | null): ReadonlyMap<string, string> {
  return json === null ? none : new Map(Object.entries(JSON.parse(json) as Record<string, string>))
}

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
      scopeAudiences: toScopeAudiences(scopeAudiences),
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
