import { sql, type ExpressionBuilder } from 'kysely'
import type { RegisteredClient } from '../application.ts'
import type { ApplicationFilter, ListedStatus, ListFilter, ListingStorage } from '../listing-storage.ts'
import { selectClients, toClients, toProject } from './client-rows.ts'
import { anyOf, type Database, type Schema } from './database.ts'

type Row = ExpressionBuilder<Schema, 'applications' | 'projects'>

export function createSqlListings(database: Database): ListingStorage {
  const { query } = database

  const ownProjects = (ownerId: string) =>
    query.selectFrom('memberships').select('projectId').where('developerId', '=', ownerId)

  function matching({ ownerId, projectId, search, status }: Omit<ApplicationFilter, 'limit' | 'offset'>) {
    return query
      .selectFrom('applications')
      .innerJoin('projects', 'projects.id', 'applications.projectId')
      .where((row) => row.and(statusConditions(row, status)))
      .$if(ownerId !== undefined, (rows) =>
        rows.where('applications.projectId', 'in', ownProjects(ownerId ?? '')),
      )
      .$if(projectId !== undefined, (rows) => rows.where('applications.projectId', '=', projectId ?? ''))
      .$if(search !== undefined, (rows) =>
        rows.where((row) =>
          row.or([
            contains('applications.name', search),
            contains('projects.name', search),
            contains('applications.client_id', search, ''),
          ]),
        ),
      )
  }

  async function count(filter: Omit<ApplicationFilter, 'limit' | 'offset'>): Promise<number> {
    const { total } = await matching(filter)
      .select(sql<string | number>`count(*)`.as('total'))
      .executeTakeFirstOrThrow()
    return Number(total)
  }

  async function clientsById(ids: readonly string[]): Promise<RegisteredClient[]> {
    const rows = await selectClients(query)
      .where('applications.id', 'in', anyOf(database, ids))
      .orderBy('secrets.createdAtMs')
      .execute()
    const found = new Map(toClients(rows).map((client) => [client.application.id, client]))
    return ids.map((id) => found.get(id)).filter((client) => client !== undefined)
  }

  return {
    async applications({ limit, offset, ...filter }) {
      const [total, rows] = await Promise.all([
        count(filter),
        matching(filter)
          .select('applications.id')
          .orderBy(
            filter.status === 'awaiting' ? sql`applications.created_at_ms` : sql`lower(applications.name)`,
          )
          .orderBy('applications.id')
          .limit(limit)
          .offset(offset)
          .execute(),
      ])
      return { items: await clientsById(rows.map(({ id }) => id)), total }
    },
    async projects({ ownerId, search, limit, offset }: ListFilter) {
      const rows = query
        .selectFrom('projects')
        .$if(ownerId !== undefined, (all) => all.where('id', 'in', ownProjects(ownerId ?? '')))
        .$if(search !== undefined, (all) =>
          all.where((row) => row.or([contains('name', search), contains('organization_name', search)])),
        )
      const [{ total }, page] = await Promise.all([
        rows.select(sql<string | number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
        rows
          .selectAll()
          .select((row) =>
            row
              .selectFrom('applications')
              .whereRef('applications.projectId', '=', 'projects.id')
              .select(sql<string | number>`count(*)`.as('count'))
              .as('applications'),
          )
          .orderBy(sql`lower(name)`)
          .orderBy('id')
          .limit(limit)
          .offset(offset)
          .execute(),
      ])
      const items = page.map(({ applications, ...project }) => ({
        project: toProject(project),
        applications: Number(applications),
      }))
      return { items, total: Number(total) }
    },
    async owners(projectIds) {
      const rows = await query
        .selectFrom('memberships')
        .innerJoin('developers', 'developers.id', 'memberships.developerId')
        .select(['projectId', 'name'])
        .where('projectId', 'in', anyOf(database, projectIds))
        .orderBy('name')
        .execute()
      const owners = new Map<string, string[]>()
      for (const { projectId, name } of rows) {
        owners.set(projectId, [...(owners.get(projectId) ?? []), name])
      }
      return owners
    },
    awaitingCount: () => count({ status: 'awaiting' }),
    async hasToken(ownerId) {
      const row = await query
        .selectFrom('applications')
        .innerJoin('lastUses', 'lastUses.id', 'applications.id')
        .select('applications.id')
        .$if(ownerId !== undefined, (rows) => rows.where('projectId', 'in', ownProjects(ownerId ?? '')))
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
    usageOf: (clientIds, sinceMs) =>
      query
        .selectFrom('usage')
        .selectAll()
        .where('clientId', 'in', anyOf(database, clientIds))
        .where('hourMs', '>=', sinceMs)
        .execute(),
    async usageTotals(sinceMs, ownerId) {
      const rows = await query
        .selectFrom('usage')
        .select(['hourMs', 'outcome', sql<string | number>`sum(requests)`.as('requests')])
        .where('hourMs', '>=', sinceMs)
        .where('clientId', 'in', (row) =>
          ownerId === undefined
            ? sql<string>`('')`
            : row
                .selectFrom('applications')
                .select('clientId')
                .where('projectId', 'in', ownProjects(ownerId)),
        )
        .groupBy(['hourMs', 'outcome'])
        .execute()
      return rows.map((row) => ({ ...row, requests: Number(row.requests) }))
    },
    async topFailures(sinceMs, limit, ownerId) {
      const rows = await query
        .selectFrom('usage')
        .innerJoin('applications', 'applications.clientId', 'usage.clientId')
        .select([
          'applications.id',
          'applications.projectId',
          'applications.name',
          'outcome',
          sql<string | number>`sum(requests)`.as('requests'),
        ])
        .where('hourMs', '>=', sinceMs)
        // As in its index, which a parameter would not match.
        .where(sql<boolean>`outcome <> 'issued'`)
        .$if(ownerId !== undefined, (all) => all.where('projectId', 'in', ownProjects(ownerId ?? '')))
        .groupBy(['applications.id', 'applications.projectId', 'applications.name', 'outcome'])
        .orderBy('requests', 'desc')
        .limit(limit)
        .execute()
      return rows.map(({ outcome, requests, ...application }) => ({
        application,
        outcome,
        requests: Number(requests),
      }))
    },
    async expiringSecrets([fromMs, untilMs], { limit, offset, ownerId, usedSinceMs }) {
      const all = query
        .selectFrom('secrets')
        .leftJoin('applications', 'applications.id', 'secrets.ownerId')
        .leftJoin('projects', 'projects.id', 'applications.projectId')
        .leftJoin('resourceServers', 'resourceServers.id', 'secrets.ownerId')
        .leftJoin('lastUses', 'lastUses.id', 'secrets.id')
        .where('expiresAtMs', '>', fromMs)
        .where('expiresAtMs', '<=', untilMs)
        .where('applications.deletesAtMs', 'is', null)
        .where('projects.deletesAtMs', 'is', null)
        .$if(usedSinceMs !== undefined, (some) => some.where('atMs', '>=', usedSinceMs ?? 0))
        .$if(ownerId !== undefined, (some) => some.where('projectId', 'in', ownProjects(ownerId ?? '')))
      const { total } = await all.select(sql<string | number>`count(*)`.as('total')).executeTakeFirstOrThrow()
      const rows = await all
        .select((row) => [
          'secrets.id as id',
          'secrets.ownerId as ownerId',
          'projectId',
          row.fn.coalesce('applications.clientId', 'resourceServers.clientId').as('clientId'),
          row.fn.coalesce('applications.name', 'resourceServers.name').as('name'),
          'prefix',
          'expiresAtMs',
          'atMs',
        ])
        .orderBy('expiresAtMs')
        .limit(limit)
        .offset(offset)
        .execute()
      const items = rows.map(
        ({ id, ownerId: its, projectId, clientId, name, prefix, expiresAtMs, atMs }) => ({
          id,
          owner: {
            id: its,
            ...(projectId !== null && { projectId }),
            clientId: clientId ?? '',
            name: name ?? '',
          },
          prefix,
          expiresAtMs: expiresAtMs ?? untilMs,
          ...(atMs !== null && { lastUsedAtMs: atMs }),
        }),
      )
      return { items, total: Number(total) }
    },
  }
}

function statusConditions(row: Row, status: ListedStatus | undefined) {
  const existing = [row('applications.deletesAtMs', 'is', null), row('projects.deletesAtMs', 'is', null)]
  switch (status) {
    case 'deleted':
      return [row.not(row.and(existing))]
    case 'awaiting':
      // As in its index, which a parameter would not match.
      return [
        ...existing,
        sql<boolean>`(applications.status = 'pending' or applications.requested is not null)`,
      ]
    case undefined:
      return existing
    default:
      return [...existing, row('status', '=', status)]
  }
}

/** Whether a column contains the text, in any case; `anywhere`: what may precede it. */
function contains(column: string, search = '', anywhere = '%') {
  const escaped = search.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)
  return sql<boolean>`lower(${sql.ref(column)}) like ${`${anywhere}${escaped}%`} escape ${'\\'}`
}
