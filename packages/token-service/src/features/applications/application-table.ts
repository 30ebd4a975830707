import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../storage/application.ts'
import type { UsageEntry } from '../../storage/activity-storage.ts'
import { shortId } from '../../portal/layout/copyable.ts'
import { named, type Column } from '../../portal/layout/list.ts'
import { absent, lastUse, type LastUses } from '../../portal/layout/time.ts'
import type { DeveloperRequest } from '../../portal/page-routes.ts'
import { listedStatus } from './status-badge.ts'
import type { ApplicationFilter, CurrentFailure } from '../search/listings.ts'
import type { ServiceContext } from '../context.ts'
import { formatCount } from '../../portal/layout/paging.ts'

export interface ApplicationTableContent {
  readonly clients: readonly RegisteredClient[]
  readonly lastUses: LastUses
  /** Of the last 24 hours. */
  readonly usage: readonly UsageEntry[]
  /** The applications that get no tokens now, by client ID. */
  readonly failing: ReadonlyMap<string, CurrentFailure>
  readonly nowMs: number
}

/** The columns of a list of applications. `project`: whether their project is below their name. */
export function applicationColumns(
  { paths }: DeveloperRequest,
  { lastUses, usage, failing, nowMs }: Omit<ApplicationTableContent, 'clients'>,
  { project: hasProject }: { readonly project: boolean },
): readonly Column<RegisteredClient>[] {
  return [
    {
      label: 'Application',
      kind: 'name',
      order: 'name',
      cell: ({ application: { id, name }, project }) =>
        named({
          name,
          href: paths.application(project.id, id),
          ...(hasProject && {
            below: html`<span class="narrow">${lastUse(id, lastUses, nowMs)} · </span>${project.name}`,
            belowHref: paths.project(project.id),
          }),
        }),
    },
    {
      label: 'Status',
      kind: 'status',
      cell: (client) => listedStatus(client, nowMs, failing.get(client.application.clientId)),
    },
    {
      label: 'Client ID',
      kind: 'id',
      leaves: 3,
      cell: ({ application: { id, clientId, name } }) =>
        shortId(`client-id-${id}`, clientId, `client ID of ${name}`),
    },
    {
      label: 'Requests, 24 hours',
      kind: 'usage',
      leaves: 2,
      order: 'failures',
      cell: ({ application: { clientId } }) =>
        sparkline(
          usage.filter((entry) => entry.clientId === clientId),
          nowMs,
        ),
    },
    {
      label: 'Last used',
      kind: 'time',
      leaves: 1,
      order: '-used',
      cell: ({ application: { id } }) => lastUse(id, lastUses, nowMs),
    },
  ]
}

/** A part of the applications, with what their table shows. */
export async function listApplications(
  { storage, activity, clock }: ServiceContext,
  filter: ApplicationFilter,
): Promise<ApplicationTableContent & { readonly total: number }> {
  const nowMs = clock.now()
  const { items: clients, total } = await storage.listings.applications({ nowMs, ...filter })
  // Called first, because it writes what is pending.
  const lastUses = await activity.lastUses(clients.map(({ application }) => application.id))
  const clientIds = clients.map(({ application }) => application.clientId)
  const [usage, failing] = await Promise.all([
    storage.listings.usageOf(clientIds, sparklineStart(nowMs)),
    storage.listings.currentFailures(clientIds),
  ])
  return { clients, total, lastUses, usage, failing, nowMs }
}

const hourMs = 3_600_000
const hours = 24
const height = 24

function sparklineStart(nowMs: number): number {
  return nowMs - (nowMs % hourMs) - (hours - 1) * hourMs
}

/** The token requests of the last 24 hours, as one path: issued ones, and failures above them. */
function sparkline(entries: readonly UsageEntry[], nowMs: number): SafeHtml {
  const startMs = sparklineStart(nowMs)
  const issued = Array.from({ length: hours }, () => 0)
  const failed = Array.from({ length: hours }, () => 0)
  for (const { hourMs: atMs, outcome, requests } of entries) {
    const hour = Math.floor((atMs - startMs) / hourMs)
    const bars = outcome === 'issued' ? issued : failed
    if (hour >= 0 && hour < hours) bars[hour] = (bars[hour] ?? 0) + requests
  }
  const sum = (bars: readonly number[]) => bars.reduce((total, each) => total + each, 0)
  const text = `${formatCount(sum(issued))} issued, ${formatCount(sum(failed))} failed`
  if (sum(issued) + sum(failed) === 0) return absent()
  const top = Math.max(...issued.map((each, hour) => each + (failed[hour] ?? 0)))
  const scaled = (requests: number) =>
    requests === 0 ? 0 : Math.max(2, Math.round((requests / top) * height))
  const path = (bars: readonly number[], below: readonly number[] = []) =>
    bars
      .map((each, hour) => {
        const bar = scaled(each)
        return bar === 0 ? '' : `M${hour * 4} ${height - scaled(below[hour] ?? 0)}v-${bar}h3v${bar}z`
      })
      .join('')
  return html`<span class="requests"
    ><span
      >${formatCount(sum(issued) + sum(failed))}${sum(failed) === 0 ? '' : html`<span class="below" data-variant="danger">${formatCount(sum(failed))} failed</span>`}</span
    >
    <svg class="sparkline" viewBox="0 0 ${hours * 4} ${height}" role="img" aria-label="${text}">
      <title>${text}</title>
      <path class="baseline" d="M0 ${height - 1}h${hours * 4}v1h-${hours * 4}z" />
      <path class="issued" d="${path(issued)}" />
      <path class="failed" d="${path(failed, issued)}" /></svg
  ></span>`
}

export const applicationOrders = [
  '-used',
  'used',
  'name',
  '-name',
  '-created',
  'created',
  'failures',
] as const
