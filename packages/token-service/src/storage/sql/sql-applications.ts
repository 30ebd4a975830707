import { asc, eq, sql } from 'drizzle-orm'
import type { Application, Project, RegisteredClient, StoredSecret } from '../../applications/application.ts'
import type { ApplicationStorage } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import type { Database } from './database.ts'
import { applications, projects, secrets } from './schema.ts'

type SecretRow = typeof secrets.$inferSelect

interface ClientRow {
  readonly application: Application
  readonly project: Project
  readonly secret: SecretRow | null
}

export function createSqlApplications(database: Database): ApplicationStorage {
  const clients = () =>
    database
      .select({ application: applications, project: projects, secret: secrets })
      .from(applications)
      .innerJoin(projects, eq(projects.id, applications.projectId))
      .leftJoin(secrets, eq(secrets.applicationId, applications.id))

  const selectAll = clients()
    .where(sql`${applications.clientId} = any(${sql.placeholder('clientIds')}::text[])`)
    .prepare('find_clients')

  const findClient = createBatcher<string, RegisteredClient | undefined>(
    async (clientIds) => {
      const rows = await selectAll.execute({ clientIds: [...new Set(clientIds)] })
      const found = new Map(grouped(rows).map((client) => [client.application.clientId, client]))
      return clientIds.map((clientId) => found.get(clientId))
    },
    { concurrency: 2 },
  )

  return {
    findClient,
    async list(projectId) {
      const rows = await clients()
        .where(eq(applications.projectId, projectId))
        .orderBy(asc(applications.createdAtMs), asc(secrets.createdAtMs))
      return grouped(rows)
    },
    create: (application, first) =>
      database.transaction(async (transaction) => {
        const row = { ...application, products: [...application.products] }
        const created = await transaction.insert(applications).values(row).onConflictDoNothing().returning()
        if (created.length === 0) return false
        if (first.length > 0) await transaction.insert(secrets).values([...first])
        return true
      }),
    async update(id, { products, ...changes }) {
      const set = products ? { ...changes, products: [...products] } : changes
      await database.update(applications).set(set).where(eq(applications.id, id))
    },
    async addSecret(secret) {
      await database.insert(secrets).values(secret)
    },
    async expireSecret(id, expiresAtMs) {
      await database
        .update(secrets)
        .set({ expiresAtMs: expiresAtMs ?? null })
        .where(eq(secrets.id, id))
    },
    async removeSecret(id) {
      await database.delete(secrets).where(eq(secrets.id, id))
    },
    async keyIds() {
      const rows = await database.selectDistinct({ keyId: secrets.keyId }).from(secrets)
      return rows.map(({ keyId }) => keyId)
    },
  }
}

/** One client out of its rows, of which there is one for each secret. */
function grouped(rows: readonly ClientRow[]): RegisteredClient[] {
  const clients = new Map<string, { application: Application; project: Project; secrets: StoredSecret[] }>()
  for (const { application, project, secret } of rows) {
    const client = clients.get(application.id) ?? { application, project, secrets: [] }
    clients.set(application.id, client)
    if (secret) client.secrets.push(storedSecret(secret))
  }
  return [...clients.values()]
}

function storedSecret({ expiresAtMs, lastUsedAtMs, ...secret }: SecretRow): StoredSecret {
  return { ...secret, expiresAtMs: expiresAtMs ?? undefined, lastUsedAtMs: lastUsedAtMs ?? undefined }
}
