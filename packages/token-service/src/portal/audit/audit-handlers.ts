import type { AuditFilter } from '../../storage/audit-storage.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { auditRoutes } from './audit-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import { confirmClock } from '../../features/audit/acts.ts'
import { eventGroups, isEventGroup } from './audit-events.ts'
import { auditPage, type AuditFields } from './audit-page.ts'
import { createAuditSentences } from './audit-sentence.ts'
import type { HandlersOf } from '../portal-request.ts'
import { administratorOf, requireAdministrator } from '../session/session.ts'

const shownEntries = 50
const exportedEntries = 100_000
const dayMs = 86_400_000

/** The audit log, for administrators. */
export function auditHandlers(service: ServiceContext): HandlersOf<typeof auditRoutes> {
  const { storage, activity, clock, clockJump } = service
  return {
    async showAudit(request) {
      requireAdministrator(request)
      await activity.flush()
      const fields = filterFields(request.query)
      const { before } = request.query
      const cursor = typeof before === 'string' && /^\d{1,15}$/.test(before) ? Number(before) : undefined
      const found = await storage.audit.list(shownEntries + 1, parseFilter(fields), cursor)
      const entries = await createAuditSentences(storage, request.paths, found.slice(0, shownEntries))
      const content = {
        entries,
        fields,
        before: found.length > shownEntries ? entries.at(-1)?.id : undefined,
        isFirst: cursor === undefined,
        clockJump: clockJump(),
        nowMs: clock.now(),
      }
      return { page: auditPage(request, content) }
    },
    async exportAudit(request) {
      requireAdministrator(request)
      await activity.flush()
      const filter = parseFilter(filterFields(request.query))
      const entries = await storage.audit.list(exportedEntries, filter)
      const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
      return { file: { name: 'audit.jsonl', type: 'application/x-ndjson; charset=utf-8', text } }
    },
    async confirmClock(request) {
      await confirmClock(service, administratorOf(request))
      return { redirectTo: request.paths.audit, notice: 'clock_confirmed' }
    },
  }
}

function filterFields(query: RawParameters): AuditFields {
  const text = (name: string) => {
    const value = query[name]
    return typeof value === 'string' ? value.trim() : ''
  }
  return {
    group: text('group'),
    actor: text('actor'),
    client_id: text('client_id'),
    address: text('address'),
    since: text('since'),
    until: text('until'),
  }
}

/** Days are in UTC; the last one is included. */
function parseFilter({ group, actor, client_id: clientId, address, since, until }: AuditFields): AuditFilter {
  return {
    ...(isEventGroup(group) && { events: eventGroups[group][1] }),
    ...(actor !== '' && { actor: actor.toLowerCase() }),
    ...(clientId !== '' && { clientId }),
    ...(address !== '' && { address }),
    ...(isDay(since) && { sinceMs: Date.parse(since) }),
    ...(isDay(until) && { untilMs: Date.parse(until) + dayMs }),
  }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))
}
