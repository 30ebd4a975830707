import type { ApplicationFilter } from '../../storage/listing-storage.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import type { ApplicationTableContent } from './application-table.ts'
import { sparklineStart } from './sparkline.ts'

/** A part of the applications, with what their table shows. */
export async function listApplications(
  { storage, activity, clock }: ServiceContext,
  filter: ApplicationFilter,
): Promise<ApplicationTableContent & { readonly total: number }> {
  const nowMs = clock.now()
  const { items: clients, total } = await storage.listings.applications(filter)
  // Called first, because it writes what is pending.
  const lastUses = await activity.lastUses(clients.map(({ application }) => application.id))
  const clientIds = clients.map(({ application }) => application.clientId)
  const usage = await storage.listings.usageOf(clientIds, sparklineStart(nowMs))
  return { clients, total, lastUses, usage, nowMs }
}
