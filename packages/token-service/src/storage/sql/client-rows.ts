import type { Selectable } from 'kysely'
import type { Application, Approval, Project, RegisteredClient, StoredSecret } from '../application.ts'
import type { PublicKey } from '../public-key.ts'
import type { Query, Schema } from './database.ts'

export const applicationColumns = [
  'applications.id',
  'applications.projectId',
  'applications.name',
  'applications.clientId',
  'applications.status',
  'applications.products',
  'applications.level',
  'applications.responseForm',
  'applications.lifetimeSeconds',
  'applications.createdAtMs',
  'applications.requested',
  'applications.keys',
  'applications.revision',
  'applications.tokenGeneration',
  'applications.deletesAtMs',
] as const

/** One row for each secret of an application, or one row without a secret. */
export function selectClients(query: Query) {
  return query
    .selectFrom('applications')
    .innerJoin('projects', 'projects.id', 'applications.projectId')
    .leftJoin('secrets', 'secrets.applicationId', 'applications.id')
    .select(applicationColumns)
    .select([
      'projects.name as projectName',
      'projects.organizationName',
      'projects.developerEmail',
      'projects.createdAtMs as projectCreatedAtMs',
      'projects.deletesAtMs as projectDeletesAtMs',
      'secrets.id as secretId',
      'secrets.keyId',
      'secrets.hash',
      'secrets.prefix',
      'secrets.createdAtMs as secretCreatedAtMs',
      'secrets.expiresAtMs',
    ])
}

type ClientRow = Awaited<ReturnType<ReturnType<typeof selectClients>['execute']>>[number]

export function toClients(rows: readonly ClientRow[]): RegisteredClient[] {
  const clients = new Map<string, RegisteredClient & { secrets: StoredSecret[] }>()
  for (const row of rows) {
    const { application, project, secret } = splitRow(row)
    const client = clients.get(application.id) ?? { application, project, secrets: [] }
    clients.set(application.id, client)
    if (secret.id !== null) client.secrets.push(secret as StoredSecret)
  }
  return [...clients.values()]
}

export function toApplication(row: Selectable<Schema['applications']>): Application {
  const { products, requested, keys, deletesAtMs, ...application } = row
  return {
    ...application,
    products: JSON.parse(products) as string[],
    keys: JSON.parse(keys) as PublicKey[],
    ...(requested !== null && { requested: JSON.parse(requested) as Approval }),
    ...(deletesAtMs !== null && { deletesAtMs }),
  }
}

export function toProject({ deletesAtMs, ...project }: Selectable<Schema['projects']>): Project {
  return { ...project, ...(deletesAtMs !== null && { deletesAtMs }) }
}

function splitRow(row: ClientRow) {
  const {
    projectName,
    organizationName,
    developerEmail,
    projectCreatedAtMs,
    projectDeletesAtMs,
    secretId,
    keyId,
    hash,
    prefix,
    secretCreatedAtMs,
    expiresAtMs,
    ...application
  } = row
  return {
    application: toApplication(application),
    project: toProject({
      id: row.projectId,
      name: projectName,
      organizationName,
      developerEmail,
      createdAtMs: projectCreatedAtMs,
      deletesAtMs: projectDeletesAtMs,
    }),
    secret: {
      id: secretId,
      applicationId: row.id,
      keyId,
      hash,
      prefix,
      createdAtMs: secretCreatedAtMs,
      expiresAtMs: expiresAtMs ?? undefined,
    },
  }
}
