import { sql, type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool } from 'kysely'
import type { TokenRequestOutcome, UsageEntry } from '../../storage/activity-storage.ts'
import { expiresSoonMs, type Project, type RegisteredClient } from '../../storage/application.ts'
import { foldName } from '../../storage/folded-name.ts'
import { selectClients, toClients, toProject } from '../../storage/registered-client.ts'
import type { Schema } from '../../storage/schema.ts'
import { anyOf, type Database } from '../../storage/database.ts'
import { toDeveloper } from '../people/storage.ts'
import type { Developer } from '../../storage/developer.ts'

/**
 * `failing`: requested tokens in the last 24 hours, and got none since a request failed; `changes`: approved, and changes are requested; `expiring`: a secret expires soon; `unused`: approved, and not
 * used for 90 days; `awaiting`: an administrator has to decide. Deleted ones are listed only by `deleted`.
 */
export type ListedStatus = (typeof listedStatuses)[number]

export const listedStatuses = [
  'failing',
  'approved',
  'pending',
  'changes',
  'revoked',
  'declined',
  'expiring',
  'unused',
  'awaiting',
  'deleted',
] as const

/** By name, by the last token, or by creation; `-`: from the other end, such as the latest first. */
export const listOrders = ['name', '-name', 'used', '-used', 'created', '-created'] as const
export type ListOrder = (typeof listOrders)[number]
/** `requested`: by when what awaits a decision was requested; `failures`: most failed token requests in 24 hours first. */
export type ApplicationOrder = ListOrder | 'requested' | 'failures'

export interface ListFilter {
  /** Only what belongs to this developer. */
  readonly ownerId?: string | undefined
  /** Words that each are a part of a name, in any case and without accents, or the start of a client ID. */
  readonly search?: string | undefined
  /** @default 'name' */
  readonly order?: ListOrder | undefined
  readonly limit: number
  readonly offset: number
}

export interface ApplicationFilter extends Omit<ListFilter, 'order'> {
  /** @default 'name' */
  readonly order?: ApplicationOrder | undefined
  readonly projectId?: string | undefined
  /** Only those that have this product. */
  readonly product?: string | undefined
  readonly scope?: string | undefined
  readonly status?: ListedStatus | undefined
  /** Whether those whose own name has the words of the search precede the others. */
  readonly namesFirst?: boolean | undefined
  /** For what fails, expires, or is unused. @default 0 */
  readonly nowMs?: number | undefined
}

export interface PeopleFilter extends Omit<ListFilter, 'ownerId'> {
  readonly administrator?: boolean | undefined
}

export interface ExpiryFilter extends Omit<ListFilter, 'search' | 'order'> {
  /** Only secrets that were used at this time or later. */
  readonly usedSinceMs?: number | undefined
}

/** A part of a list, and the length of the whole. */
export interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly total: number
}

export interface ListedProject {
  readonly project: Project
  /** How many applications it has. */
  readonly applications: number
}

/** An application in a list of something else. */
export interface ApplicationName {
  readonly id: string
  readonly projectId: string
  readonly name: string
}

/** A secret of an application or of a resource server. */
export interface ExpiringSecret {
  readonly id: string
  /** A resource server has no project. */
  readonly owner: {
    readonly id: string
    readonly projectId?: string | undefined
    readonly clientId: string
    readonly name: string
  }
  readonly prefix: string
  readonly expiresAtMs: number
  readonly lastUsedAtMs?: number | undefined
}

export interface FailureTotal {
  readonly application: ApplicationName
  readonly outcome: TokenRequestOutcome
  readonly requests: number
}

/** Why an application gets no tokens now, and since when. */
export interface CurrentFailure {
  readonly sinceMs: number
  readonly outcome: TokenRequestOutcome
}

/** Token requests of all applications in one hour. */
export type UsageTotal = Omit<UsageEntry, 'clientId'>

type Row = ExpressionBuilder<Schema, 'applications' | 'projects'>
type Narrowing = Omit<ApplicationFilter, 'limit' | 'offset' | 'order' | 'namesFirst'>

const dayMs = 86_400_000
const mostFound = 1_000_000

/** What the portal lists, in pages: no query reads or returns everything that is stored. */
export function listingStorage(database: Database) {
  const { query } = database

  /** Where the folded word is in a text, from 1, or else 0. */
  const indexOf = (text: string, word: string) =>
    sql<number>`${sql.raw(database.kind === 'sqlite' ? 'instr' : 'strpos')}(${sql.raw(text)}, ${word})`
  const contains = (text: string, word: string) => sql<boolean>`${indexOf(text, word)} > 0`

  /** Whether a JSON array of texts has this one. */
  const lists = (array: string, text = '') => contains(array, JSON.stringify(text))

  const ownProjects = (ownerId: string) =>
    query.selectFrom('memberships').select('projectId').where('developerId', '=', ownerId)

  function matching({
    ownerId,
    projectId,
    product,
    scope,
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
      .$if(product !== undefined, (rows) => rows.where(lists('applications.products', product)))
      .$if(scope !== undefined, (rows) => rows.where(lists('applications.scopes', scope)))
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

  /** 0 for an application whose own name has all words of the search, and 1 for others. */
  const otherNames = (search = '') =>
    sql<number>`case when ${sql.join(
      wordsOf(search).map((word) => contains('applications.folded_name', word)),
      sql` and `,
    )} then 0 else 1 end`

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

  /** Of the last 24 hours, by client ID. */
  const failures = (nowMs: number) =>
    query
      .selectFrom('usage')
      .select(['clientId', sql<string | number>`sum(requests)`.as('failed')])
      .where('hourMs', '>=', nowMs - dayMs)
      // As in its index, which a parameter would not match.
      .where(sql<boolean>`outcome <> 'issued'`)
      .groupBy('clientId')
  const withFailures = (filter: Narrowing) =>
    matching(filter).innerJoin(
      failures(filter.nowMs ?? 0).as('failures'),
      'failures.clientId',
      'applications.clientId',
    )
  const withoutFailures = (filter: Narrowing) =>
    matching(filter).where(
      'applications.clientId',
      'not in',
      failures(filter.nowMs ?? 0)
        .clearSelect()
        .select('clientId'),
    )

  /** The IDs of one page, in their order. */
  async function idsOf({
    limit,
    offset,
    order = 'name',
    namesFirst = false,
    ...filter
  }: ApplicationFilter): Promise<string[]> {
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
        .$if(namesFirst && wordsOf(filter.search).length > 0, (all) => all.orderBy(otherNames(filter.search)))
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
      case 'requested':
        return read(matching(filter), 'applications.requested_at_ms', offset, limit)
      case 'failures': {
        const failed = await withFailures(filter)
          .select('applications.id')
          .orderBy('failures.failed', 'desc')
          .orderBy('applications.sortName')
          .execute()
        const first = failed.slice(offset, offset + limit).map(({ id }) => id)
        const from = Math.max(0, offset - failed.length)
        return [
          ...first,
          ...(await read(withoutFailures(filter), 'applications.sort_name', from, limit - first.length)),
        ]
      }
      case 'used':
      case '-used': {
        // Those that were never used come last, or else first, by name.
        const countFirst = async () => {
          const { total } = await (order === '-used' ? used(filter) : unused(filter))
            .select(sql<string | number>`count(*)`.as('total'))
            .executeTakeFirstOrThrow()
          return Number(total)
        }
        // A search reads them all: nothing depends on their number.
        const inFirst = limit === mostFound ? mostFound : await countFirst()
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
    /** Names, projects, products, owners and client IDs are searched. */
    async applications({ limit, offset, ...filter }: ApplicationFilter): Promise<ListPage<RegisteredClient>> {
      if (wordsOf(filter.search).length > 0) {
        // A search reads every application once: for the page, and for their number.
        const ids = await idsOf({ ...filter, limit: mostFound, offset: 0 })
        return { items: await clientsById(ids.slice(offset, offset + limit)), total: ids.length }
      }
      const [total, ids] = await Promise.all([count(filter), idsOf({ ...filter, limit, offset })])
      return { items: await clientsById(ids), total }
    },
    /** How many applications of each status match the rest of the filter. */
    async applicationCounts({
      nowMs = 0,
      ...filter
    }: Omit<ApplicationFilter, 'status' | 'limit' | 'offset' | 'order'>): Promise<
      Readonly<Record<ListedStatus | 'all', number>>
    > {
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
    /** With those that can still be restored. */
    async projects({
      ownerId,
      search,
      order = 'name',
      limit,
      offset,
    }: ListFilter): Promise<ListPage<ListedProject>> {
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
    async people({
      search,
      administrator,
      order = 'name',
      limit,
      offset,
    }: PeopleFilter): Promise<ListPage<Developer>> {
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
    /** How many applications have each product or scope, by its name; deleted ones do not count. */
    async catalogueUses(kind: 'products' | 'scopes'): Promise<ReadonlyMap<string, number>> {
      const rows = await matching({})
        .select([`applications.${kind} as names`, sql<string | number>`count(*)`.as('count')])
        .groupBy(`applications.${kind}`)
        .execute()
      const uses = new Map<string, number>()
      for (const { names, count: some } of rows)
        for (const name of JSON.parse(names) as string[]) uses.set(name, (uses.get(name) ?? 0) + Number(some))
      return uses
    },
    /** The names of the projects that each developer owns, by developer. */
    async projectNames(developerIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
      const rows = await query
        .selectFrom('memberships')
        .innerJoin('projects', 'projects.id', 'memberships.projectId')
        .select(['developerId', 'name'])
        .where('developerId', 'in', anyOf(database, developerIds))
        .orderBy('sortName')
        .execute()
      return namesBy(rows.map(({ developerId, name }) => [developerId, name]))
    },
    /** The names of the owners, by project. */
    async owners(projectIds: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
      const rows = await query
        .selectFrom('memberships')
        .innerJoin('developers', 'developers.id', 'memberships.developerId')
        .select(['projectId', 'name'])
        .where('projectId', 'in', anyOf(database, projectIds))
        .orderBy('name')
        .execute()
      return namesBy(rows.map(({ projectId, name }) => [projectId, name]))
    },
    /** How many applications an administrator has to decide on. */
    awaitingCount: (): Promise<number> => count({ status: 'awaiting' }),
    /** Whether an application of the developer, or of anybody, has ever got a token. */
    async hasToken(ownerId?: string): Promise<boolean> {
      const row = await query
        .selectFrom('applications')
        .innerJoin('lastUses', 'lastUses.id', 'applications.id')
        .select('applications.id')
        .$if(ownerId !== undefined, (rows) => rows.where('projectId', 'in', ownProjects(ownerId ?? '')))
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },
    /** The usage of these clients, by hour and outcome. */
    usageOf: (clientIds: readonly string[], sinceMs: number): Promise<readonly UsageEntry[]> =>
      query
        .selectFrom('usage')
        .selectAll()
        .where('clientId', 'in', anyOf(database, clientIds))
        .where('hourMs', '>=', sinceMs)
        .execute(),
    /** The usage of all applications of the developer, or of all. */
    async usageTotals(sinceMs: number, ownerId?: string): Promise<readonly UsageTotal[]> {
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
    /** Those of these clients that get no tokens now, by client ID. */
    async currentFailures(clientIds: readonly string[]): Promise<ReadonlyMap<string, CurrentFailure>> {
      const rows = await query
        .selectFrom('tokenRequests')
        .innerJoin('applications', 'applications.clientId', 'tokenRequests.clientId')
        .select(['tokenRequests.clientId', 'outcome'])
        .select(({ fn }) => [
          fn.min('tokenRequests.atMs').as('sinceMs'),
          fn.max('tokenRequests.atMs').as('latestMs'),
        ])
        .where('tokenRequests.clientId', 'in', anyOf(database, clientIds))
        .where(failedSinceToken)
        .groupBy(['tokenRequests.clientId', 'outcome'])
        // The last one stays in the map: what the others led to is no reason.
        .orderBy(sql`case when outcome = 'too_many_failures' then 0 else 1 end`)
        .orderBy('latestMs')
        .execute()
      const failing = new Map<string, CurrentFailure>()
      for (const { clientId, outcome, sinceMs } of rows) {
        const earlier = failing.get(clientId)?.sinceMs ?? Infinity
        failing.set(clientId, { outcome, sinceMs: Math.min(sinceMs, earlier) })
      }
      return failing
    },
    /** The most frequent first. */
    async topFailures(sinceMs: number, limit: number, ownerId?: string): Promise<readonly FailureTotal[]> {
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
    /** The first to expire first. With `ownerId`, of the developer's applications alone. Without those of deleted applications and projects. */
    async expiringSecrets(
      [fromMs, untilMs]: readonly [fromMs: number, untilMs: number],
      { limit, offset, ownerId, usedSinceMs }: ExpiryFilter,
    ): Promise<ListPage<ExpiringSecret>> {
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

/** As in its index, which a parameter would not match. */
const awaiting = sql<boolean>`(applications.status = 'pending' or applications.requested is not null)`

/** What was declined was never approved, so nobody revoked it. */
const isDeclined = sql<boolean>`coalesce(applications.review, '') like '%"declined":%'`

/** A failed token request after the last token that the application got. */
const failedSinceToken = sql<boolean>`token_requests.outcome <> 'issued'
  and token_requests.at_ms > coalesce((select at_ms from last_uses where last_uses.id = applications.id), 0)`

function statusConditions(row: Row, status: ListedStatus | 'any' | undefined, nowMs: number) {
  const existing = [row('applications.deletesAtMs', 'is', null), row('projects.deletesAtMs', 'is', null)]
  switch (status) {
    case 'any':
      return []
    case 'deleted':
      return [row.not(row.and(existing))]
    case 'failing':
      return [
        ...existing,
        sql<boolean>`applications.client_id in (select client_id from usage
          where hour_ms >= ${nowMs - dayMs} and outcome <> 'issued')`,
        sql<boolean>`exists (select 1 from token_requests
          where token_requests.client_id = applications.client_id
          and token_requests.minute_ms >= ${nowMs - dayMs} and ${failedSinceToken})`,
      ]
    case 'awaiting':
      return [...existing, awaiting]
    case 'pending':
      return [...existing, awaiting, row('status', '=', 'pending')]
    case 'changes':
      return [...existing, awaiting, row('status', '=', 'approved'), row('requested', 'is not', null)]
    case 'revoked':
      return [...existing, row('status', '=', 'revoked'), row.not(isDeclined)]
    case 'declined':
      return [...existing, row('status', '=', 'revoked'), isDeclined]
    case 'expiring':
      return [
        ...existing,
        sql<boolean>`applications.id in (select owner_id from secrets
          where expires_at_ms > ${nowMs} and expires_at_ms <= ${nowMs + expiresSoonMs})`,
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

const directionOf = (order: ApplicationOrder) => (order.startsWith('-') ? 'desc' : 'asc')
const columnOf = (order: ListOrder) => (order.endsWith('created') ? sql`created_at_ms` : sql`sort_name`)

const mostWords = 5

function wordsOf(search = ''): string[] {
  return foldName(search).split(/\s+/).filter(Boolean).slice(0, mostWords)
}
