import { isBeingDeleted, type RegisteredClient } from '../../applications/application.ts'
import type { ListedStatus, ListingStorage } from '../listing-storage.ts'
import type { Storage, UsageEntry } from '../storage.ts'

/** The lists of what is kept in this process, read from its other parts. */
export function createMemoryListings({
  applications,
  projects,
  developers,
  activity,
}: Pick<Storage, 'applications' | 'projects' | 'developers' | 'activity'>): ListingStorage {
  async function ownedBy(ownerId: string | undefined): Promise<(projectId: string) => boolean> {
    const own = ownerId === undefined ? undefined : new Set(await developers.projectIds(ownerId))
    return (projectId) => own?.has(projectId) ?? true
  }

  async function clients(ownerId?: string): Promise<RegisteredClient[]> {
    const isOwn = await ownedBy(ownerId)
    return (await applications.page(Infinity)).filter(({ project }) => isOwn(project.id))
  }

  async function usage(sinceMs: number, ownerId?: string) {
    const all = await Promise.all(
      (await clients(ownerId)).map(async ({ application }) =>
        (await activity.usage(application.clientId, sinceMs)).map((entry) => ({ application, entry })),
      ),
    )
    return all.flat()
  }

  const awaiting = async () => (await clients()).filter((client) => hasStatus(client, 'awaiting'))

  return {
    async applications({ ownerId, projectId, search = '', status, limit, offset }) {
      const text = search.toLowerCase()
      const items = (await clients(ownerId))
        .filter((client) => hasStatus(client, status))
        .filter(({ project }) => projectId === undefined || project.id === projectId)
        .filter(
          ({ application, project }) =>
            [application.name, project.name].some((name) => name.toLowerCase().includes(text)) ||
            application.clientId.toLowerCase().startsWith(text),
        )
        .sort((a, b) =>
          status === 'awaiting'
            ? a.application.createdAtMs - b.application.createdAtMs
            : byName(a.application, b.application),
        )
      return { items: items.slice(offset, offset + limit), total: items.length }
    },
    async projects({ ownerId, search = '', limit, offset }) {
      const isOwn = await ownedBy(ownerId)
      const text = search.toLowerCase()
      const found = (await projects.list())
        .filter(({ id, deletesAtMs }) => isOwn(id) && deletesAtMs === undefined)
        .filter(({ name, organizationName }) =>
          [name, organizationName].some((each) => each.toLowerCase().includes(text)),
        )
        .sort(byName)
      const items = await Promise.all(
        found.slice(offset, offset + limit).map(async (project) => ({
          project,
          applications: (await applications.list(project.id)).length,
        })),
      )
      return { items, total: found.length }
    },
    async owners(projectIds) {
      const [all, memberships] = await Promise.all([developers.list(), developers.memberships()])
      const names = new Map(all.map(({ id, name }) => [id, name]))
      return new Map(
        projectIds.map((id) => [
          id,
          memberships
            .filter(({ projectId }) => projectId === id)
            .flatMap(({ developerId }) => names.get(developerId) ?? [])
            .sort(),
        ]),
      )
    },
    awaitingCount: async () => (await awaiting()).length,
    async hasToken(ownerId) {
      const ids = (await clients(ownerId)).map(({ application }) => application.id)
      return (await activity.lastUses(ids)).size > 0
    },
    usageOf: async (clientIds, sinceMs) =>
      (await Promise.all(clientIds.map((clientId) => activity.usage(clientId, sinceMs)))).flat(),
    async usageTotals(sinceMs, ownerId) {
      const entries = (await usage(sinceMs, ownerId)).map(({ entry }) => entry)
      return sums(entries, ({ hourMs, outcome }) => `${hourMs} ${outcome}`).map(
        ({ clientId: _, ...total }) => total,
      )
    },
    async topFailures(sinceMs, limit, ownerId) {
      const failed = (await usage(sinceMs, ownerId)).filter(({ entry }) => entry.outcome !== 'issued')
      const found = new Map(failed.map(({ application }) => [application.clientId, application]))
      return sums(
        failed.map(({ entry }) => entry),
        ({ clientId, outcome }) => `${clientId} ${outcome}`,
      )
        .sort((a, b) => b.requests - a.requests)
        .slice(0, limit)
        .map(({ clientId, outcome, requests }) => {
          const { id, projectId, name } = found.get(clientId)!
          return { application: { id, projectId, name }, outcome, requests }
        })
    },
    async expiringSecrets([fromMs, untilMs], limit, ownerId) {
      return (await clients(ownerId))
        .filter(({ application }) => application.deletesAtMs === undefined)
        .flatMap(({ application: { id, projectId, name }, secrets }) =>
          secrets.map(({ prefix, expiresAtMs = Infinity }) => ({
            application: { id, projectId, name },
            prefix,
            expiresAtMs,
          })),
        )
        .filter(({ expiresAtMs }) => expiresAtMs > fromMs && expiresAtMs <= untilMs)
        .sort((a, b) => a.expiresAtMs - b.expiresAtMs)
        .slice(0, limit)
    },
    async audit(limit, filter, before = Infinity) {
      const all = await activity.audit(Infinity, {})
      const matching = await activity.audit(Infinity, filter)
      const ids = new Map(all.map((entry, index) => [entry, all.length - index]))
      return matching
        .map((entry) => ({ ...entry, id: ids.get(entry) ?? 0 }))
        .filter(({ id }) => id < before)
        .slice(0, limit)
    },
  }
}

function hasStatus(client: RegisteredClient, status: ListedStatus | undefined): boolean {
  if (status === 'deleted' || isBeingDeleted(client)) return status === 'deleted' && isBeingDeleted(client)
  const { status: own, requested } = client.application
  if (status === 'awaiting') return own === 'pending' || requested !== undefined
  return status === undefined || own === status
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1
}

function sums(entries: readonly UsageEntry[], key: (entry: UsageEntry) => string): UsageEntry[] {
  const totals = new Map<string, UsageEntry>()
  for (const entry of entries) {
    const { requests = 0 } = totals.get(key(entry)) ?? {}
    totals.set(key(entry), { ...entry, requests: requests + entry.requests })
  }
  return [...totals.values()]
}
