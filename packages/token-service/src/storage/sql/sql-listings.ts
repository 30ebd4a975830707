import { sql, type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely'
import type { RegisteredClient } from '../application.ts'
import { foldName } from '../folded-name.ts'
import {
  listedStatuses,
  type ApplicationFilter,
  type ListedStatus,
  type ListFilter,
  type ListingStorage,
  type ListOrder,
} from '../listing-storage.ts'
import { selectClients, toClients, toProject } from './sql-applications.ts'
import type { Schema } from '../schema.ts'
import { anyOf, type Database } from './database.ts'
import { toDeveloper } from './sql-developers.ts'

type Row = ExpressionBuilder<Schema, 'applications' | 'projects'>
type Narrowing = Omit<ApplicationFilter, 'limit' | 'offset' | 'order'>

const dayMs = 86_400_000
const mostFound = 1_000_000

export function createSqlListings(database: Database): ListingStorage {
  const { query } = database

  /** Where the folded word is in a text, from 1, or else 0. */
  const indexOf = (text: string, word: string) =>
    sql<number>`${sql.raw(database.kind === 'sqlite' ? 'instr' : 'strpos')}(${sql.raw(text)}, ${word})`
  const contains = (text: string, word: string) => sql<boolean>`${indexOf(text, word)} > 0`

  const ownProjects = (ownerId: string) =>
    query.selectFrom('memberships').select('projectId').where('developerId', '=', ownerId)

  function matching({
    ownerId,
    projectId,
    search,
    status,
    nowMs = 0,
  }: Omit<Narrowing, 'status'> & { readonly status?: ListedStatus | 'any' | undefined }) {
    return query
      .selectFrom('applications')
      .innerJoin('projects', 'projects.id', 'applications.projectId')
      .where((row) => row.and(statusConditions(row, status, nowMs)))
      .$if(ownerId !== undefined, (rows) =>
        rows.where('applications.projectId', 'in', ownProjects(ownerId ?? '')),
      )
      .$if(projectId !== undefined, (rows) => rows.where('applications.projectId', '=', projectId ?? ''))
      .$if(search !== undefined, (rows) =>
        rows.where((row) => row.and(wordsOf(search).map((word) => row.or(places(word))))),
      )
  }

  /** Where a word of a search may be found. Owners and projects are looked up once, not for each application. */
  const places = (word: string) => [
    contains('applications.folded_name', word),
    sql<boolean>`applications.project_id in (select id from projects where ${contains('folded_name', word)})`,
    contains('lower(applications.products)', word),
    sql<boolean>`${indexOf('lower(applications.client_id)', word)} = 1`,
    sql<boolean>`applications.project_id in (select project_id from memberships join developers
      on developers.id = memberships.developer_id where ${contains('developers.folded_name', word)})`,
  ]

  async function count(filter: Narrowing): Promise<number> {
    const { total } = await matching(filter)
      .select(sql<string | number>`count(*)`.as('total'))
      .executeTakeFirstOrThrow()
    return Number(total)
  }

  /** Those that were used, in that order: an index has it. */
  const used = (filter: Narrowing) => matching(filter).innerJoin('lastUses', 'lastUses.id', 'applications.id')
  const unused = (filter: Narrowing) =>
    matching(filter).where(
      sql<boolean>`not exists (select 1 from last_uses where last_uses.id = applications.id)`,
    )

  /** The IDs of one page, in their order. */
  async function idsOf({ limit, offset, order = 'name', ...filter }: ApplicationFilter): Promise<string[]> {
    const direction = directionOf(order)
    const read = async (
      rows: ReturnType<typeof matching>,
      first: string,
      from: number,
      most: number,
      towards: 'asc' | 'desc' = direction,
    ) => {
      if (most <= 0) return []
      const page = rows
        .select('applications.id')
        .orderBy(sql.ref(first), towards)
        .orderBy('applications.id', towards)
        .limit(most)
        .offset(from)
      return (await page.execute()).map(({ id }) => id)
    }
    switch (order) {
      case 'name':
      case '-name':
        return read(matching(filter), 'applications.sort_name', offset, limit)
      case 'created':
      case '-created':
        return read(matching(filter), 'applications.created_at_ms', offset, limit)
      case 'used':
      case '-used': {
        // Those that were never used come last, or else first, by name.
        const { total } = await (order === '-used' ? used(filter) : unused(filter))
          .select(sql<string | number>`count(*)`.as('total'))
          .executeTakeFirstOrThrow()
        const inFirst = Number(total)
        const [fromFirst, fromSecond] = [offset, Math.max(0, offset - inFirst)]
        const readUsed = async (from: number, most: number) => {
          if (most <= 0) return []
          const page = used(filter)
            .select('applications.id')
            .orderBy('lastUses.atMs', direction)
            .orderBy('lastUses.id', direction)
            .limit(most)
            .offset(from)
          return (await page.execute()).map(({ id }) => id)
        }
        const readUnused = (from: number, most: number) =>
          read(unused(filter), 'applications.sort_name', from, most, 'asc')
        const [readFirst, readSecond] = order === '-used' ? [readUsed, readUnused] : [readUnused, readUsed]
        const first = await readFirst(fromFirst, Math.min(limit, inFirst - offset))
        return [...first, ...(await readSecond(fromSecond, limit - first.length))]
      }
    }
  }

  async function clientsById(ids: readonly string[]): Promise<RegisteredClient[]> {
    const rows = await selectClients(database)
      .where('applications.id', 'in', anyOf(database, ids))
      .orderBy('secrets.createdAtMs')
      .execute()
    const found = new Map(toClients(rows).map((client) => [client.application.id, client]))
    return ids.map((id) => found.get(id)).filter((client) => client !== undefined)
  }

  return {
    async applications({ limit, offset, ...filter }) {
      if (wordsOf(filter.search).length > 0) {
        // A search reads every application once: for the page, and for their number.
        const ids = await idsOf({ ...filter, limit: mostFound, offset: 0 })
        return { items: await clientsById(ids.slice(offset, offset + limit)), total: ids.length }
      }
      const [total, ids] = await Promise.all([count(filter), idsOf({ ...filter, limit, offset })])
      return { items: await clientsById(ids), total }
    },
    async applicationCounts({ nowMs = 0, ...filter }) {
      const all = matching({ ...filter, status: 'any' })
      const counted = await all
        .select((row) => [
          countOf(statusConditions(row, undefined, nowMs)).as('all'),
          ...listedStatuses.map((status) => countOf(statusConditions(row, status, nowMs)).as(status)),
        ])
        .executeTakeFirstOrThrow()
      const entries = Object.entries(counted).map(([status, number]) => [status, Number(number)])
      return Object.fromEntries(entries) as Record<ListedStatus | 'all', number>
    },
    async projects({ ownerId, search, order = 'name', limit, offset }: ListFilter) {
      const rows = query
        .selectFrom('projects')
        .$if(ownerId !== undefined, (all) => all.where('id', 'in', ownProjects(ownerId ?? '')))
        .$if(search !== undefined, (all) =>
          all.where((row) =>
            row.and(
              wordsOf(search).map((word) =>
                row.or([contains('folded_name', word), contains('lower(organization_name)', word)]),
              ),
            ),
          ),
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
          .orderBy(columnOf(order), directionOf(order))
          .orderBy('id', directionOf(order))
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
    async people({ search, administrator, order = 'name', limit, offset }) {
      const rows = query
        .selectFrom('developers')
        .$if(administrator !== undefined, (all) => all.where('administrator', '=', Number(administrator)))
        .$if(search !== undefined, (all) =>
          all.where((row) => row.and(wordsOf(search).map((word) => contains('folded_name', word)))),
        )
      const [{ total }, page] = await Promise.all([
        rows.select(sql<string | number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
        rows
          .selectAll()
          .orderBy(columnOf(order), directionOf(order))
          .orderBy('id', directionOf(order))
          .limit(limit)
          .offset(offset)
          .execute(),
      ])
      return { items: page.map(toDeveloper), total: Number(total) }
    },
    async catalogueUses(kind) {
      const rows = await matching({})
        .select([`applications.${kind} as names`, sql<string | number>`count(*)`.as('count')])
        .groupBy(`applications.${kind}`)
        .execute()
      const uses = new Map<string, number>()
      for (const { names, count: some } of rows)
        for (const name of JSON.parse(names) as string[]) uses.set(name, (uses.get(name) ?? 0) + Number(some))
      return uses
    },
    async projectNames(developerIds) {
      const rows = await query
        .selectFrom('memberships')
        .innerJoin('projects', 'projects.id', 'memberships.projectId')
        .select(['developerId', 'name'])
        .where('developerId', 'in', anyOf(database, developerIds))
        .orderBy('sortName')
        .execute()
      return namesBy(rows.map(({ developerId, name }) => [developerId, name]))
    },
    async owners(projectIds) {
      const rows = await query
        .selectFrom('memberships')
        .innerJoin('developers', 'developers.id', 'memberships.developerId')
        .select(['projectId', 'name'])
        .where('projectId', 'in', anyOf(database, projectIds))
        .orderBy('name')
        .execute()
      return namesBy(rows.map(({ projectId, name }) => [projectId, name]))
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

/** The names by ID, in their order. */
function namesBy(rows: readonly (readonly [id: string, name: string])[]): Map<string, string[]> {
  const names = new Map<string, string[]>()
  for (const [id, name] of rows) names.set(id, [...(names.get(id) ?? []), name])
  return names
}

function statusConditions(row: Row, status: ListedStatus | 'any' | undefined, nowMs: number) {
  const existing = [row('applications.deletesAtMs', 'is', null), row('projects.deletesAtMs', 'is', null)]
  switch (status) {
    case 'any':
      return []
    case 'deleted':
      return [row.not(row.and(existing))]
    case 'awaiting':
      // As in its index, which a parameter would not match.
      return [
        ...existing,
        sql<boolean>`(applications.status = 'pending' or applications.requested is not null)`,
      ]
    case 'changes':
      return [...existing, row('status', '=', 'approved'), row('requested', 'is not', null)]
    case 'expiring':
      return [
        ...existing,
        sql<boolean>`applications.id in (select owner_id from secrets
          where expires_at_ms > ${nowMs} and expires_at_ms <= ${nowMs + 30 * dayMs})`,
      ]
    case 'unused':
      return [
        ...existing,
        row('status', '=', 'approved'),
        row('applications.createdAtMs', '<', nowMs - 90 * dayMs),
        sql<boolean>`not exists (select 1 from last_uses
          where last_uses.id = applications.id and last_uses.at_ms >= ${nowMs - 90 * dayMs})`,
      ]
    case undefined:
      return existing
    default:
      return [...existing, row('status', '=', status)]
  }
}

/** How many of the rows meet all of the conditions. */
function countOf(conditions: readonly Expression<SqlBool>[]): RawBuilder<string | number> {
  return sql<string | number>`count(case when ${sql.join(conditions, sql` and `)} then 1 end)`
}

const directionOf = (order: ListOrder) => (order.startsWith('-') ? 'desc' : 'asc')
const columnOf = (order: ListOrder) => (order.endsWith('created') ? sql`created_at_ms` : sql`sort_name`)

const mostWords = 5

function wordsOf(search = ''): string[] {
  return foldName(search).split(/\s+/).filter(Boolean).slice(0, mostWords)
}
