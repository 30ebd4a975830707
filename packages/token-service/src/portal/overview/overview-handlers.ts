import { randomUUID } from 'node:crypto'
import { catalogueHints } from '../../features/catalogue/pages.ts'
import { isBeingDeleted, type Project } from '../../storage/application.ts'
import type { overviewRoutes } from './overview-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import { startPage, type StartContent } from './start-page.ts'
import type { HandlersOf } from '../portal-request.ts'
import { summarizeUsage, usageRanges, usageStart } from '../applications/usage.ts'
import { eventGroups } from '../audit/audit-events.ts'
import { createAuditSentences } from '../audit/audit-sentence.ts'
import { listState } from '../layout/list.ts'
import { expiringSecretsPage, expiryPeriods, longestExpiryDays } from './expiring-secrets-page.ts'
import { overviewPage } from './overview-page.ts'
import { joinedProjects, ownerIdOf } from '../projects/own-projects.ts'

const shownRows = 5
const dayMs = 86_400_000
const expiryMs = longestExpiryDays * dayMs
const month = usageRanges[2]
/** What administrators want to know of: everything but log-ins and rejected requests. */
const changeEvents = Object.entries(eventGroups).flatMap(([name, [, events]]): readonly string[] =>
  name === 'sessions' || name === 'rejections' ? [] : events,
)

/** The overview, and the steps to the first token. */
export function overviewHandlers({
  storage,
  activity,
  clock,
}: ServiceContext): HandlersOf<typeof overviewRoutes> {
  async function progress(all: readonly Project[]): Promise<StartContent> {
    const projects = all.filter(({ deletesAtMs }) => deletesAtMs === undefined)
    const clients = await storage.applications.listOf(projects.map(({ id }) => id))
    const lastUses = await activity.lastUses(clients.map(({ application }) => application.id))
    const [products, scopes] = await Promise.all([storage.products.list(), storage.scopes.list()])
    const hasToken = ({ application }: (typeof clients)[number]) => lastUses.has(application.id)
    const registered = clients.filter((client) => !isBeingDeleted(client))
    const client = registered.find(hasToken) ?? registered[0]
    return {
      project: client?.project ?? projects[0],
      client,
      hasToken: client !== undefined && hasToken(client),
      products: products.map(({ name }) => name),
      scopes: scopes.map(({ name }) => name),
      hints: { products: catalogueHints(products), scopes: catalogueHints(scopes) },
      submissionId: randomUUID(),
    }
  }

  return {
    async showOverview(request) {
      const { developer, paths, notice } = request
      await activity.flush()
      if (!(await storage.listings.hasToken(ownerIdOf(request)))) return { redirectTo: paths.start, notice }
      const ownerId = ownerIdOf(request)
      const nowMs = clock.now()
      const { listings } = storage
      const [totals, applications, pending, expiring, failures, changes] = await Promise.all([
        listings.usageTotals(usageStart(month, nowMs), ownerId),
        listings.applications({ ownerId, limit: 0, offset: 0 }),
        developer.administrator
          ? listings.awaitingCount()
          : listings
              .applications({ ownerId, status: 'pending', limit: 0, offset: 0 })
              .then(({ total }) => total),
        listings.expiringSecrets([nowMs, nowMs + expiryMs], { ownerId, limit: shownRows, offset: 0 }),
        listings.topFailures(nowMs - dayMs, shownRows, ownerId),
        developer.administrator ? storage.audit.list(shownRows, { events: changeEvents }) : [],
      ])
      const content = {
        usage: summarizeUsage(totals, month, nowMs),
        applications: applications.total,
        pending,
        expiring: expiring.items,
        failures,
        changes: await createAuditSentences(storage, paths, changes),
        nowMs,
      }
      return { page: overviewPage(request, content) }
    },
    async showExpiringSecrets(request) {
      const periods = Object.keys(expiryPeriods) as (keyof typeof expiryPeriods)[]
      const state = listState(request.query, { orders: ['expires'], facets: periods })
      const nowMs = clock.now()
      await activity.flush()
      const read = (days: string, limit: number, offset: number) =>
        storage.listings.expiringSecrets([nowMs, nowMs + (Number(days) || longestExpiryDays) * dayMs], {
          ownerId: ownerIdOf(request),
          limit,
          offset,
        })
      const [found, ...totals] = await Promise.all([
        read(state.facet, state.limit, state.offset),
        ...['', ...periods].map(async (days) => [days, (await read(days, 0, 0)).total] as const),
      ])
      return { page: expiringSecretsPage(request, { ...found, state, counts: new Map(totals), nowMs }) }
    },
    // An administrator sees every project, but takes the steps in their own.
    showStart: async (request) => ({
      page: startPage(request, await progress(await joinedProjects(storage, request))),
    }),
  }
}
