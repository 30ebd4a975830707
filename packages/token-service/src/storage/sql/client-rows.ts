import type { Selectable } from 'kysely'
import type { Application, Approval, Project, RegisteredClient, PublicKey, Review } from '../application.ts'
import type { NameColumns } from '../folded-name.ts'
import type { Schema } from '../schema.ts'
import type { Query } from './database.ts'
import { secretColumns, withSecrets } from './sql-secrets.ts'

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
export function selectClients(query: Query) {
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
      ...secretColumns,
    ])
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
    return { application: toApplication(own), project: toProject(project), secrets }
  })
}

export function toApplication(row: Omit<Selectable<Schema['applications']>, keyof NameColumns>): Application {
  const { products, scopes, audiences, requested, review, keys, claims, ...rest } = row
  const { deletesAtMs, deletedBy, ...application } = rest
  return {
    ...application,
    products: JSON.parse(products) as string[],
    scopes: JSON.parse(scopes) as string[],
    audiences: JSON.parse(audiences) as string[],
    keys: JSON.parse(keys) as PublicKey[],
    claims: JSON.parse(claims) as Application['claims'],
    ...(requested !== null && { requested: JSON.parse(requested) as Approval }),
    ...(review !== null && { review: JSON.parse(review) as Review }),
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
